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

const FAINTEST = 14; // the colour, of 256, from which an entry differs from none
const COARSEST = 8; // screen pixels of a pixel of the picture of all, above which it is too coarse

// Cells coloured by their weight, by their share of the row, or by their lift: what they have over
// what their row and column lead one to expect. A typical small entry is added to both, so that a
// cell without an entry is remarkable only where much is expected.
class Picture {
  constructor(data) {
    this.data = data;
    this.by = about.colour;
    this.canvas = document.createElement("canvas");
    this.recolour();
  }

  recolour() {
    this.scale = this.by === "lift" ? liftScale() : cellScale();
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
    const { view, cells, totals } = this.data;
    const rows = binsOf(view.rows, spans.rows, density);
    const columns = binsOf(view.columns, spans.columns, density);
    const means = meansOf(cells, view.rows.at, rows, columns);
    const small = Math.min(about.values[0] ?? 1, quantile(about.values, 0.05) ?? 1) / cells.top;
    const unit = small * rows.size * columns.size / sumOf([...rows.count]) / sumOf([...columns.count]);
    const masses = [rows, columns].map(({ bin, count }, i) =>
      meanMasses(totals[SIDES[i]], bin, count, cells.top));
    const high = this.paint(means, masses, { all: totals.all / cells.top, unit });
    this.high = this.by === "weight" ? high * cells.top : high;
    pen.drawImage(this.canvas, columns.start, rows.start, columns.length, rows.length);
  }

  drawOverview(pen, { rows, columns }) {
    const [high, wide] = about.overview;
    const means = Float32Array.from(this.data.sections.get("overview"), (byte) => (byte / 255) ** 2);
    const masses = [new Float64Array(high), new Float64Array(wide)];
    means.forEach((mean, i) => {
      masses[0][Math.floor(i / wide)] += mean;
      masses[1][i % wide] += mean;
    });
    this.paint(means, masses, { all: sumOf(masses[0]), unit: 1 / 255 });
    const [x, y] = [wide / columns.count, high / rows.count]; // pixels of an element
    pen.drawImage(this.canvas,
      columns.from * x, rows.from * y, (columns.to - columns.from) * x, (rows.to - rows.from) * y,
      columns.start, rows.start, columns.length, rows.length);
    this.high = null;
  }

  // Returns the number that has the darkest colour: a mean weight, or a share.
  paint(means, [rows, columns], { all, unit }) {
    const [height, width] = [rows.length, columns.length];
    Object.assign(this.canvas, { width, height });
    const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const last = this.table.length - 1;
    const shares = this.by === "share"
      ? means.map((mean, i) => mean && mean / rows[Math.floor(i / width)]) : means;
    const high = highOf(shares);
    const expected = (i) => rows[Math.floor(i / width)] * columns[i % width] / all;
    const shade = this.by === "lift"
      ? (mean, i) => 0.5 + Math.log2((mean + unit) / (expected(i) + unit)) / (2 * about.far)
      : (value) => (value > 0 ? Math.max(FAINTEST / last, Math.sqrt(value / high)) : 0);
    shares.forEach((value, i) =>
      (pixels[i] = this.table[Math.round(last * Math.max(0, Math.min(1, shade(value, i))))]));
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    return high;
  }
}

// The mean mass of the elements in each bin, in units of the largest entry.
function meanMasses(sums, bin, count, top) {
  const masses = new Float64Array(count.length);
  sums.forEach((sum, element) => { if (bin[element] >= 0) masses[bin[element]] += sum / top; });
  return masses.map((mass, b) => mass / count[b]);
}
