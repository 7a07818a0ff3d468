// Colours, and canvases that are sharp on any screen.

const theme = matchMedia("(prefers-color-scheme: dark)");
const colours = new Map(); // asking the page for each of thousands of marks would take long
function colour(name) {
  if (!colours.has(name)) {
    const style = getComputedStyle(document.documentElement);
    colours.set(name, style.getPropertyValue(name).trim());
  }
  return colours.get(name);
}

// Both scales vary in lightness, so that no eye needs to tell hues apart.
function ramp() {
  const stops = ["--cell-0", "--cell-1", "--cell-2", "--cell-3"].map(colour);
  return d3.piecewise(d3.interpolateLab, stops);
}

function diverging() {
  const stops = ["--less-2", "--less-1", "--even", "--more-1", "--more-2"].map(colour);
  return d3.piecewise(d3.interpolateLab, stops);
}

function lookup(scale, size = 256) {
  const table = new Uint32Array(size);
  for (let i = 0; i < size; i++) {
    const { r, g, b } = d3.rgb(scale(i / (size - 1)));
    table[i] = (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
  }
  return table;
}

// Fit a canvas to the box around it; what it returns draws in CSS pixels.
function fitted(canvas, height) {
  const width = canvas.parentElement.clientWidth;
  const density = Math.min(devicePixelRatio || 1, 3);
  if (canvas.width !== Math.round(width * density) ||
      canvas.height !== Math.round(height * density)) {
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height, density };
}

function clipped(pen, text, most) {
  if (pen.measureText(text).width <= most) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= most) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low) + "…";
}

const font = (size, weight = 400) => `${weight} ${size}px ${colour("--font")}`;
const short = d3.format(".3~g");
const percent = (share) => (share < 0.001 && share > 0 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`);
const number = (value) => (Number.isSafeInteger(value)
  ? value.toLocaleString("en") : d3.format(".4~g")(value));

// A name in a text, set apart: whichever way it is written, what is around it stays in place.
function apart(name) {
  const element = document.createElement("bdi");
  element.textContent = name;
  return element;
}

// A line of a box or a note: its parts are texts and names, never markup.
const said = (kind, ...parts) => ({ kind, parts });

// A box beside the pointer.
const tip = {
  box: document.getElementById("tip"),
  show(lines, x, y) {
    this.box.replaceChildren(...lines.map(({ kind, parts }) => {
      const element = document.createElement("div");
      element.append(...parts);
      element.className = kind;
      return element;
    }));
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const left = x + 14 + width > innerWidth ? x - width - 14 : x + 14;
    const top = y + 14 + height > innerHeight ? y - height - 14 : y + 14;
    this.box.style.left = `${Math.max(4, left)}px`;
    this.box.style.top = `${Math.max(4, top)}px`;
  },
  hide() { this.box.hidden = true; },
};
