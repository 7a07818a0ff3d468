// Lift: how many times more mass a block has than by chance, as colour and as text.
// Blocks with less are pale, so that strong ones stand out.

const FURTHEST = 5; // octaves of lift at the end of the scale, at most
const SHADES = 256; // on either side of 1

class Lift {
  // The scale is that of the fit at every β, so that colours can be compared.
  constructor({ share, expected }) {
    const octaves = Array.from(share, (mass, i) =>
      (mass > 0 && expected[i] > 0 ? Math.log2(mass / expected[i]) : 0));
    const most = Math.max(1, largest(octaves, (each) => each));
    this.far = Math.min(FURTHEST, Math.ceil(most * 2) / 2);
    this.recolour();
  }

  recolour() {
    const scale = liftScale(), last = 2 * SHADES;
    const shade = (rgb) => ({ fill: css(rgb), ink: inkOn(rgb) });
    this.shades = Array.from({ length: last + 1 }, (_, i) => shade(scale(i / last)));
  }

  // The colour of a block, and that of the text in it.
  shade(lift) {
    const share = Math.max(-1, Math.min(1, Math.log2(lift) / this.far));
    return this.shades[Math.round((1 + share) * SHADES)];
  }

  text(lift) { return liftText(lift); }

  drawLegend(box) {
    const width = Math.min(340, box.clientWidth || 340), start = 20, end = width - 20;
    const fields = 48, size = (end - start) / fields;
    const field = (_, i) => svg("rect", { x: start + i * size, y: 4, width: size + 0.6, height: 10,
      fill: this.shade(2 ** (this.far * (2 * i / (fields - 1) - 1))).fill });
    const axis = new Axis([-this.far, this.far], [start, end]);
    const step = this.far > 3 ? 2 : 1, last = Math.floor(this.far / step);
    const ticks = Array.from({ length: 2 * last + 1 }, (_, i) => (i - last) * step);
    const text = (octaves) => (octaves < 0 ? `×1/${2 ** -octaves}` : `×${2 ** octaves}`);
    box.replaceChildren(drawing(width, 44, {},
      ...Array.from({ length: fields }, field), axis.drawBelow(14, ticks, text, 4)));
  }
}
