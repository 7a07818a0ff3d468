// Lift: how many times more mass a block has than by chance, as colour and as text.

const FURTHEST = 5; // octaves of lift at either end of the scale, at most

class Lift {
  // The scale is that of the fit at every β, so that colours can be compared.
  constructor({ share, expected }) {
    const distances = Array.from(share, (mass, i) =>
      (mass > 0 && expected[i] > 0 ? Math.abs(Math.log2(mass / expected[i])) : 0));
    const most = Math.max(1, largest(distances, (octaves) => octaves));
    this.far = Math.min(FURTHEST, Math.ceil(most * 2) / 2);
    this.recolour();
  }

  recolour() { this.scale = liftScale(); }

  // Red, green and blue.
  colour(lift) {
    const share = Math.log2(lift) / this.far;
    return this.scale(0.5 + Math.max(-1, Math.min(1, share)) / 2);
  }

  text(lift) {
    if (lift < 0.005) return lift === 0 ? "0" : "<.01";
    return `×${Number(lift < 1 ? lift.toFixed(2) : lift.toPrecision(2))}`;
  }

  drawLegend(box) {
    const width = Math.min(340, box.clientWidth || 340), start = 20, end = width - 20;
    const fields = 48, size = (end - start) / fields;
    const field = (_, i) => svg("rect", { x: start + i * size, y: 4, width: size + 0.6, height: 10,
      fill: css(this.scale(i / (fields - 1))) });
    const axis = new Axis([-this.far, this.far], [start, end]);
    const step = this.far > 3 ? 2 : 1, last = Math.floor(this.far / step);
    const ticks = Array.from({ length: 2 * last + 1 }, (_, i) => (i - last) * step);
    const text = (octaves) => (octaves < 0 ? `×1/${2 ** -octaves}` : `×${2 ** octaves}`);
    box.replaceChildren(svg("svg", { width, height: 44 },
      ...Array.from({ length: fields }, field), axis.drawBelow(14, ticks, text, 4)));
  }
}
