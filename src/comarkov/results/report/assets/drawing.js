// Canvases that are sharp on any screen, text that fits, SVG elements, and axes.

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

function strokeFrame(pen, ...rectangle) {
  pen.strokeStyle = colour("--accent");
  pen.lineWidth = 2;
  pen.strokeRect(...rectangle);
}

// An SVG element with its attributes and children.
const svg = (tag, attributes, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// A drawing of this size, which keeps its proportions where it must be smaller.
const drawing = (width, height, attributes, ...children) =>
  svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, ...attributes }, ...children);

const moved = (x, y) => `translate(${x},${y})`;

// What a browser shows of an element under the pointer.
const hint = (text) => svg("title", {}, text);

// A straight scale from numbers to pixels, with ticks at round numbers.
const SLACK = 1e-9; // of a step, for numbers like 0.1 that are not exact

class Axis {
  constructor([from, to], [start, end]) {
    Object.assign(this, { from, to, start, end });
  }

  // From 0 to a round number that is not below the largest.
  static upTo(most, [start, end]) {
    const step = roundStep(most / 10);
    return new Axis([0, Math.ceil(most / step - SLACK) * step], [start, end]);
  }

  at(value) {
    const share = this.to > this.from ? (value - this.from) / (this.to - this.from) : 0.5;
    return this.start + share * (this.end - this.start);
  }

  ticks(count) {
    if (this.to === this.from) return [this.from];
    const step = roundStep((this.to - this.from) / count);
    const first = Math.ceil(this.from / step - SLACK), last = Math.floor(this.to / step + SLACK);
    return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  }

  // As many decimals as the ticks need, the same in all of them.
  tickText(count) {
    const step = roundStep((this.to - this.from) / count);
    if (!(step >= 1e-6 && step < 1e9)) return short;
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return (value) => value.toLocaleString("en", options);
  }

  drawBelow(top, ticks, text, size = 6) {
    const tick = (value) => svg("g", { class: "tick", transform: moved(sharp(this.at(value)), 0) },
      svg("line", { y2: size }), svg("text", { y: size + 3, dy: "0.71em" }, text(value)));
    const line = `M${sharp(this.start)},${size}V${sharp(0)}H${sharp(this.end)}V${size}`;
    return svg("g", { class: "axis", transform: moved(0, top) },
      svg("path", { class: "domain", d: line }), ...ticks.map(tick));
  }

  drawLeft(left, ticks, text, size = 6) {
    const tick = (value) => svg("g", { class: "tick", transform: moved(0, sharp(this.at(value))) },
      svg("line", { x2: -size }), svg("text", { x: -size - 3, dy: "0.32em" }, text(value)));
    const line = `M${-size},${sharp(this.start)}H${sharp(0)}V${sharp(this.end)}H${-size}`;
    return svg("g", { class: "axis left", transform: moved(left, 0) },
      svg("path", { class: "domain", d: line }), ...ticks.map(tick));
  }
}

// Of 1, 2 and 5 times a power of ten, the number that is nearest to a length by its logarithm.
function roundStep(length) {
  const power = 10 ** Math.floor(Math.log10(length)), times = length / power;
  if (times >= Math.sqrt(5 * 10)) return 10 * power;
  if (times >= Math.sqrt(2 * 5)) return 5 * power;
  return times >= Math.sqrt(1 * 2) ? 2 * power : power;
}

// A line of one pixel is sharp in the middle of a pixel, unless pixels are finer.
const sharp = (pixel) => pixel + (devicePixelRatio > 1 ? 0 : 0.5);
