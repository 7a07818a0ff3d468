// Canvases that are sharp on any screen, text that fits, and SVG elements.

// Fit a canvas to the box around it; the pen draws in CSS pixels.
function fitted(canvas, height) {
  const width = canvas.parentElement.clientWidth;
  if (fitted.pen) return { pen: fitted.pen, density: SAVED_DENSITY }; // while a picture is saved
  const density = Math.min(devicePixelRatio || 1, 3);
  const [wide, high] = [width, height].map((pixels) => Math.round(pixels * density));
  if (canvas.width !== wide || canvas.height !== high) {
    Object.assign(canvas, { width: wide, height: high });
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, density };
}

const font = (size, weight = 400) => `${weight} ${size}px ${colour("--font")}`;

// A text in at most so many lines, broken between words, with "·" at the end of lines; what does not
// fit is clipped.
function wrapped(pen, text, width, most) {
  const lines = [], words = text.split(/ (?!·)/);
  while (words.length && lines.length < Math.max(1, most) - 1) {
    let line = words.shift();
    while (words.length && pen.measureText(`${line} ${words[0]}`).width <= width) line += ` ${words.shift()}`;
    lines.push(clipped(pen, line, width));
  }
  if (words.length) lines.push(clipped(pen, words.join(" "), width));
  return lines;
}

// Lines of text around a middle.
function writeLines(pen, lines, x, middle, height = 13) {
  lines.forEach((line, i) => pen.fillText(line, x, middle + (i - (lines.length - 1) / 2) * height));
}

// As much of a text as is not wider than this.
function clipped(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  const [, variable, value] = /^([^·]+?)( = [^·]+)$/.exec(text) ?? [], room = value && width - pen.measureText(value).width;
  if (room > width / 5) return clipped(pen, variable, room) + value; // of a category rather the variable is cut
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  const word = text.lastIndexOf(" ", low); // cut at the end of a word, unless little is left
  return text.slice(0, word > low / 2 ? word : low).replace(/[\s·,]+$/, "") + "…";
}

function strokeFrame(pen, ...rectangle) {
  pen.strokeStyle = colour("--accent");
  pen.lineWidth = 2;
  pen.strokeRect(...rectangle);
}

// An SVG element with its attributes and children.
const svg = (tag, attributes, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const moved = (x, y) => `translate(${x},${y})`;

// What a browser shows of an element under the pointer.
const hint = (text) => svg("title", {}, text);

// Where the i-th of k things is on a circle of radius 1; one alone is in the middle.
function onCircle(i, k) {
  const angle = (k === 2 ? Math.PI : -Math.PI / 2) + 2 * Math.PI * i / k;
  return k > 1 ? [Math.cos(angle), Math.sin(angle)] : [0, 0];
}
