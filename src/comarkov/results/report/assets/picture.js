// The cells as an image: put together where there are more of them than pixels or, far away where
// some were left out of the page, from the picture of all of them.

// Which bin each element of a side falls into, how many each bin has, and where bins are drawn.
function binsOf({ at }, span, density) {
  const pixels = Math.round(span.length * density);
  const first = Math.floor(span.from), last = Math.min(span.count, Math.ceil(span.to));
  const isSingle = last - first <= pixels; // an element a bin
  const size = isSingle ? last - first : pixels;
  const bin = new Int32Array(span.count).fill(-1);
  const count = new Uint32Array(size);
  for (let p = first; p < last; p++) {
    const b = isSingle ? p - first
      : within(Math.floor((p + 0.5 - span.from) / (span.to - span.from) * size), size);
    bin[at[p]] = b;
    count[b]++;
  }
  const [start, length] = isSingle
    ? [span.pixel(first), size * span.cell] : [span.start, span.length];
  return { bin, count, size, first, last, start, length };
}

// The mean of the cells in each bin, row by row; `at` holds the rows as they are drawn.
function meansOf(cells, at, rows, columns) {
  const means = new Float32Array(rows.size * columns.size);
  for (let p = rows.first; p < rows.last; p++) {
    const row = at[p], offset = rows.bin[row] * columns.size;
    for (let e = cells.starts[row]; e < cells.starts[row + 1]; e++) {
      const b = columns.bin[cells.columns[e]];
      if (b >= 0) means[offset + b] += cells.levels[cells.codes[e]];
    }
  }
  for (let r = 0, i = 0; r < rows.size; r++) {
    for (let c = 0; c < columns.size; c++, i++) {
      if (means[i] > 0) means[i] /= rows.count[r] * columns.count[c];
    }
  }
  return means;
}

// The 99th percentile of the positive numbers, from at most some 60,000 of them.
function highOf(numbers) {
  const step = Math.max(1, Math.floor(numbers.length / 60000));
  const sample = [];
  for (let i = 0; i < numbers.length; i += step) if (numbers[i] > 0) sample.push(numbers[i]);
  return quantile(sample, 0.99) || 1;
}

// The bytes of the picture in the order that is shown. Pictures are stored in the diagonal order, of
// the fit first and then of each other β; in another order the pixels of clusters are moved.
function overviewOf(data) {
  const [high, wide] = about.overview, size = high * wide, { fit, shown } = data;
  const stored = shown === fit ? 0 : shown + (shown < fit ? 1 : 0);
  const bytes = data.sections.get("overview").subarray(stored * size, (stored + 1) * size);
  const rows = pixelsMoved(data, "rows", high), columns = pixelsMoved(data, "columns", wide);
  if (!rows && !columns) return bytes;
  return Uint8Array.from({ length: size }, (_, i) => {
    const y = Math.floor(i / wide), x = i % wide;
    return bytes[(rows ? rows[y] : y) * wide + (columns ? columns[x] : x)];
  });
}

// The stored pixel of each pixel along a side; null if they are the same.
function pixelsMoved(data, side, pixels) {
  const { n } = data[side], { at } = data.view[side], stored = data.diagonalPlaces(side);
  if (at.every((element, place) => stored[element] === place)) return null;
  return Uint32Array.from({ length: pixels }, (_, pixel) => {
    const element = at[Math.floor((pixel + 0.5) * n / pixels)];
    return Math.floor(stored[element] * pixels / n);
  });
}

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
    const { view, cells } = this.data;
    const rows = binsOf(view.rows, spans.rows, density);
    const columns = binsOf(view.columns, spans.columns, density);
    const means = meansOf(cells, view.rows.at, rows, columns), high = highOf(means);
    this.paint(means, columns.size, rows.size, (mean) => Math.sqrt(mean / high));
    this.high = high * cells.top; // the entry of the darkest colour
    pen.drawImage(this.canvas, columns.start, rows.start, columns.length, rows.length);
  }

  drawOverview(pen, { rows, columns }) {
    const [high, wide] = about.overview;
    this.paint(overviewOf(this.data), wide, high, (byte) => byte / 255);
    const [x, y] = [wide / columns.count, high / rows.count]; // pixels of an element
    pen.drawImage(this.canvas,
      columns.from * x, rows.from * y, (columns.to - columns.from) * x, (rows.to - rows.from) * y,
      columns.start, rows.start, columns.length, rows.length);
    this.high = null;
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
