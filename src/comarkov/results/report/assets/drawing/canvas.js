// Canvases that are sharp on any screen, and text that fits.

// Fit a canvas to the box around it; the pen draws in CSS pixels.
function fitted(canvas, height) {
  const width = canvas.parentElement.clientWidth;
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

// A pen that measures the text of labels.
function measuringPen(size = 12) {
  measuringPen.pen ??= document.createElement("canvas").getContext("2d");
  return Object.assign(measuringPen.pen, { font: font(size) });
}

// A text in at most so many lines, broken between words; what does not fit is clipped.
function wrapped(pen, text, width, most) {
  const lines = [], words = text.split(" ");
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
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low) + "…";
}
