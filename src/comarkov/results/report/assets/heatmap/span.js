// One side of the heatmap: the places that are shown, and the pixels that they take.

const LARGEST = 44; // pixels of a cell, beyond which a side zooms no further

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
    const least = Math.min(this.count, Math.max(1, this.length / LARGEST));
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
