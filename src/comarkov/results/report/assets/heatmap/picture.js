// The cells as an image: from the cells or, far away where some were left out, from the picture
// of all of them.

const FAINTEST = 14; // the colour, of 256, from which an entry differs from none
const COARSEST = 8; // screen pixels of a pixel of the picture of all, above which it is too coarse

class Picture {
  constructor(data) {
    this.data = data;
    this.canvas = document.createElement("canvas");
    this.recolour();
  }

  recolour() {
    this.scale = cellScale();
    this.table = pixelsOf(this.scale);
  }

  draw(pen, spans, density) {
    pen.imageSmoothingEnabled = false;
    if (this.isFar(spans)) this.drawOverview(pen, spans);
    else this.drawCells(pen, spans, density);
  }

  isFar({ rows, columns }) {
    if (!about.overview) return false;
    const [high, wide] = about.overview;
    const sizes = [columns.cell * columns.count / wide, rows.cell * rows.count / high];
    return Math.max(...sizes) < COARSEST;
  }

  drawCells(pen, spans, density) {
    const { view, cells } = this.data, key = this.keyOf(spans, density);
    const rows = binsOf(view.rows, spans.rows, density);
    const columns = binsOf(view.columns, spans.columns, density);
    if (!this.isPainted(key)) {
      const means = meansOf(cells, view.rows.at, rows, columns), high = highOf(means);
      this.paint(means, columns.size, rows.size, (mean) => Math.sqrt(mean / high));
      this.high = high * cells.top; // the entry of the darkest colour
      this.painted = key;
    }
    pen.drawImage(this.canvas, columns.start, rows.start, columns.length, rows.length);
  }

  // What an image of the cells depends on. Another level moves no cell, so that it stays.
  keyOf({ rows, columns }, density) {
    const { view } = this.data, places = [rows, columns].flatMap((span) => [span.from, span.to, span.length]);
    return [view.rows.at, view.columns.at, this.table, density, ...places];
  }

  isPainted(key) { return this.painted?.every((part, i) => part === key[i]); }

  drawOverview(pen, { rows, columns }) {
    const [high, wide] = about.overview;
    this.paint(overviewOf(this.data), wide, high, (byte) => byte / 255);
    const [x, y] = [wide / columns.count, high / rows.count]; // pixels of an element
    pen.drawImage(this.canvas,
      columns.from * x, rows.from * y, (columns.to - columns.from) * x, (rows.to - rows.from) * y,
      columns.start, rows.start, columns.length, rows.length);
    this.high = null;
    this.painted = null;
  }

  paint(numbers, width, height, shareOf) {
    Object.assign(this.canvas, { width, height });
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const { table } = this, last = table.length - 1;
    for (let i = 0; i < pixels.length; i++) {
      const value = numbers[i];
      pixels[i] = value > 0
        ? table[Math.max(FAINTEST, Math.min(last, Math.round(last * shareOf(value))))] : table[0];
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }
}
