// One side of the heatmap, with the places that are shown and the pixels that they take, and what is
// drawn over the cells: borders between clusters, the highlight, and the cursor.

const LARGEST_CELL = 44; // pixels, beyond which a side zooms no further

class Span {
  constructor(count) {
    this.count = count;
    this.from = 0; // the first place that is shown, which may be shown in part
    this.to = count;
    this.start = 0; // its pixel
    this.length = 1;
  }

  get isWhole() { return this.to - this.from >= this.count; }

  get end() { return this.start + this.length; }

  // The pixels of a cell.
  get cell() { return this.length / (this.to - this.from); }

  pixel(place) { return this.start + (place - this.from) * this.cell; }

  // The place at a pixel, or null beside the matrix.
  place(pixel) {
    if (pixel < this.start || pixel >= this.end) return null;
    return within(Math.floor(this.from + (pixel - this.start) / this.cell), this.count);
  }

  // Show these places, or as near to them as the sizes of cells allow.
  show(from, to) {
    const size = this.allowed(to - from);
    const start = (from + to - size) / 2;
    this.from = Math.max(0, Math.min(this.count - size, start));
    this.to = this.from + size;
  }

  allowed(size) {
    const least = Math.min(this.count, Math.max(1, this.length / LARGEST_CELL));
    return Math.min(this.count, Math.max(least, size));
  }

  showAll() { this.show(0, this.count); }

  // What is under the pixel stays there.
  zoom(factor, pixel) {
    const share = Math.max(0, Math.min(1, (pixel - this.start) / this.length));
    const size = this.allowed((this.to - this.from) / factor);
    const from = this.from + (this.to - this.from - size) * share;
    this.show(from, from + size);
  }

  move(pixels) {
    const places = pixels / this.cell;
    this.show(this.from - places, this.to - places);
  }

  // Move as little as it takes to show a place.
  reveal(place) {
    const places = Math.max(0, place + 1 - this.to) - Math.max(0, this.from - place);
    this.show(this.from + places, this.to + places);
  }
}
const PLAIN = 24; // pixels of a cluster, on average, from which borders are drawn in full

// The rectangle from one pixel of a side to another, across all of the other side.
function strip({ rows, columns }, side, from, to) {
  return side === "rows" ? [columns.start, from, columns.length, to - from]
    : [from, rows.start, to - from, rows.length];
}

// The more clusters there are the fainter, so that lines never hide the cells.
function drawBorders(pen, spans, view) {
  pen.fillStyle = colour("--border");
  for (const side of ["columns", "rows"]) {
    const { bands } = view[side], span = spans[side];
    pen.globalAlpha = Math.min(1, span.cell * span.count / bands.length / PLAIN);
    pen.beginPath();
    for (const { end } of bands.slice(0, -1)) {
      const pixel = Math.round(span.pixel(end));
      const isInside = pixel >= span.start && pixel < span.end;
      if (isInside) pen.rect(...strip(spans, side, pixel, pixel + 1));
    }
    pen.fill();
  }
  pen.globalAlpha = 1;
}

// Fade all but the cluster, and frame the element.
function drawHighlight(pen, spans, view, { side, cluster, element }) {
  const span = spans[side], { bands, place } = view[side];
  const band = bands.find((each) => each.cluster === cluster);
  if (band) {
    pen.fillStyle = colour("--shade");
    pen.fillRect(...strip(spans, side, span.start, Math.max(span.start, span.pixel(band.start))));
    pen.fillRect(...strip(spans, side, Math.min(span.end, span.pixel(band.end)), span.end));
  }
  if (element === undefined) return;
  const from = span.pixel(place[element]);
  const [x, y, width, height] = strip(spans, side, from, from + Math.max(2, span.cell));
  const beyond = 2; // the ends of the frame are outside, where they are not seen
  if (side === "rows") strokeFrame(pen, x - beyond, y, width + 2 * beyond, height);
  else strokeFrame(pen, x, y - beyond, width, height + 2 * beyond);
}

function drawCursor(pen, { rows, columns }, cursor) {
  strokeFrame(pen, columns.pixel(cursor.columns) - 1, rows.pixel(cursor.rows) - 1,
    Math.max(6, columns.cell) + 2, Math.max(6, rows.cell) + 2);
}
