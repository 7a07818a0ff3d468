// Pictures as files: PNG with three times the pixels of the screen, and SVG.

const SAVED_DENSITY = 3;

// A pen that writes what pictures draw as SVG; it has what they use of a canvas's context.
class SvgPen {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], definitions: [], moves: "", clips: "", path: "", saved: [] });
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, textAlign: "left", font: "" });
    this.measure = document.createElement("canvas").getContext("2d");
    this.fillStyle = colour("--paper");
    this.fillRect(0, 0, width, height);
  }

  get text() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" `
      + `viewBox="0 0 ${this.width} ${this.height}"><defs>${this.definitions.join("")}</defs>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  add(tag, attributes, content = "") {
    const shared = { ...attributes, transform: this.moves, "clip-path": this.clips, opacity: this.globalAlpha };
    const written = Object.entries(shared).filter(([, value]) => value !== "" && value !== undefined && value !== 1);
    this.parts.push(`<${tag} ${written.map(([name, value]) => `${name}="${escaped(String(value))}"`).join(" ")}>${content}</${tag}>`);
  }

  // As hexadecimal numbers, which all programs read.
  colourOf(style) { return Object.assign(this.measure, { fillStyle: style }).fillStyle; }

  get line() { return { fill: "none", stroke: this.colourOf(this.strokeStyle), "stroke-width": this.lineWidth }; }

  fillRect(x, y, width, height) { this.add("rect", { x, y, width, height, fill: this.colourOf(this.fillStyle) }); }

  strokeRect(x, y, width, height) { this.add("rect", { x, y, width, height, ...this.line }); }

  beginPath() { this.path = ""; }

  moveTo(x, y) { this.path += `M${x},${y}`; }

  lineTo(x, y) { this.path += `L${x},${y}`; }

  rect(x, y, width, height) { this.path += `M${x},${y}h${width}v${height}h${-width}z`; }

  arc(x, y, radius) { // only ever a whole circle
    this.path += `M${x - radius},${y}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0`;
  }

  fill() { if (this.path) this.add("path", { d: this.path, fill: this.colourOf(this.fillStyle) }); }

  stroke() { if (this.path) this.add("path", { d: this.path, ...this.line }); }

  clip() {
    const id = `clip-${this.definitions.length}`;
    this.definitions.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.clips = `url(#${id})`;
  }

  save() { this.saved.push({ moves: this.moves, clips: this.clips }); }

  restore() { Object.assign(this, this.saved.pop()); }

  translate(x, y) { this.moves += `translate(${x},${y})`; }

  rotate(angle) { this.moves += `rotate(${angle * 180 / Math.PI})`; }

  measureText(text) { return Object.assign(this.measure, { font: this.font }).measureText(text); }

  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end" }[this.textAlign];
    const look = { x, y, dy: "0.35em", "text-anchor": anchor, style: `font:${this.font}` };
    this.add("text", { ...look, fill: this.colourOf(this.fillStyle) }, escaped(text));
  }

  // The whole of a canvas, or a part of it.
  drawImage(canvas, ...box) {
    const [left, top, wide, high] = box.length > 4 ? box : [0, 0, canvas.width, canvas.height];
    const part = Object.assign(document.createElement("canvas"), { width: Math.max(1, wide), height: Math.max(1, high) });
    part.getContext("2d").drawImage(canvas, -left, -top);
    const [x, y, width, height] = box.slice(-4);
    this.add("image", { x, y, width, height, href: part.toDataURL(), preserveAspectRatio: "none", style: "image-rendering:pixelated" });
  }
}

// What a style sheet does to an element of a drawing, which files have with it.
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-linejoin", "paint-order", "opacity", "text-anchor",
  "font-family", "font-size", "font-weight"];

// Save an SVG drawing of the page as it is shown.
function saveDrawing(name, kind, drawing) {
  known.clear();
  const box = drawing.getBBox(), [x, y] = [box.x - 8, box.y - 8], [width, height] = [box.width, box.height].map((size) => Math.ceil(size) + 16);
  const copy = drawing.cloneNode(true), copies = [...copy.querySelectorAll("*")];
  [...drawing.querySelectorAll("*")].forEach((part, i) => {
    const style = getComputedStyle(part);
    if (style.display === "none") return copies[i].remove();
    return DRAWN.forEach((key) => copies[i].setAttribute(key, style.getPropertyValue(key)));
  });
  copy.prepend(svg("rect", { x, y, width, height, fill: colour("--paper") }));
  Object.entries({ width, height, viewBox: [x, y, width, height] }).forEach((each) => copy.setAttribute(...each));
  const text = new XMLSerializer().serializeToString(copy);
  if (kind === "svg") return download(`${name}.svg`, text, "image/svg+xml");
  const image = newElement("img", { src: `data:image/svg+xml,${encodeURIComponent(text)}` });
  return image.decode().then(() =>
    savePicture(name, kind, [width, height], (pen) => pen.drawImage(image, 0, 0, width, height)));
}

// Let buttons save the pictures beside them.
function connectSaving(save) {
  document.querySelectorAll("button.save").forEach((button) =>
    button.addEventListener("click", () => save(button.dataset.picture, button.dataset.kind)));
}

const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

// Save what `draw` draws with a pen, in pixels of the screen.
function savePicture(name, kind, [width, height], draw) {
  if (kind === "svg") {
    const pen = new SvgPen(width, height);
    draw(pen);
    return download(`${name}.svg`, pen.text, "image/svg+xml");
  }
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  Object.assign(canvas, { width: SAVED_DENSITY * width, height: SAVED_DENSITY * height });
  pen.scale(SAVED_DENSITY, SAVED_DENSITY);
  pen.fillStyle = colour("--paper");
  pen.fillRect(0, 0, width, height);
  draw(pen);
  return canvas.toBlob((blob) => download(`${name}.png`, blob, "image/png"));
}
