// SVG elements, made in one call with their attributes and children.

const svg = (tag, attributes, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const moved = (x, y) => `translate(${x},${y})`;

// What a browser shows of an element under the pointer.
const hint = (text) => svg("title", {}, text);
