// SVG elements, made in one call with their attributes and children.

const svg = (tag, attributes, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// A drawing of this size, which keeps its proportions where it must be smaller.
const drawing = (width, height, attributes, ...children) =>
  svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, ...attributes }, ...children);

const moved = (x, y) => `translate(${x},${y})`;

// What a browser shows of an element under the pointer.
const hint = (text) => svg("title", {}, text);
