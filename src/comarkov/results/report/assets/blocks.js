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
// The block matrix: one field for each pair of clusters, coloured by its lift.

class Blocks {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.lift = new Lift(data.view);
    this.cursor = null; // { rows, columns } of the block that keys have moved to
    this.lit = null; // { side, cluster } that is highlighted
    this.names = { rows: this.namesOf(data.rows), columns: this.namesOf(data.columns) };
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerleave", () => tooltip.hide());
    canvas.addEventListener("click", (event) => this.choose(this.under(event)));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("blur", () => this.leave());
  }

  // The elements that stand for a side that is not clustered, or null.
  namesOf(side) {
    if (side.clusters) return null;
    const place = new Map(Array.from(side.from, (from, i) => [from, i]));
    return side.shown.map((from) => side.names[place.get(from)]);
  }

  get shape() {
    const [rows, columns] = this.data.view.shape;
    return { rows, columns };
  }

  liftOf({ rows, columns }) {
    const { share, expected } = this.data.view, i = this.index({ rows, columns });
    return expected[i] > 0 ? share[i] / expected[i] : 1;
  }

  // The cluster at a place of a side; an element, where the side is not clustered.
  clusterAt(side, place) { return this.data.view[side].clusters[place]; }

  index({ rows, columns }) {
    return this.clusterAt("rows", rows) * this.shape.columns + this.clusterAt("columns", columns);
  }

  draw() {
    this.margins = new BlockMargins(this.data, this.names, this.shape, this.canvas.parentElement.clientWidth);
    const { left, top, width, height, total } = this.margins;
    this.box = { left, top, width, height }; // of one block
    const { pen } = fitted(this.canvas, total);
    pen.textBaseline = "middle";
    this.drawFields(pen);
    this.writeLifts(pen);
    this.margins.write(pen);
    this.drawMarks(pen);
  }

  // All blocks, row by row.
  get all() {
    const { rows, columns } = this.shape;
    return Array.from({ length: rows * columns }, (_, i) =>
      ({ rows: Math.floor(i / columns), columns: i % columns }));
  }

  rectangle({ rows, columns }, gap = 0) {
    const { left, top, width, height } = this.box;
    const [x, y] = [left + columns * width, top + rows * height];
    return [x + gap, y + gap, width - 2 * gap, height - 2 * gap];
  }

  middle(block) {
    const [x, y, width, height] = this.rectangle(block);
    return [x + width / 2, y + height / 2];
  }

  drawFields(pen) {
    const { width, height } = this.box, gap = Math.min(width, height) > 8 ? 1 : 0;
    for (const block of this.all) {
      pen.fillStyle = this.lift.shade(this.liftOf(block)).fill;
      pen.fillRect(...this.rectangle(block, gap));
    }
  }

  // A number is written wherever it fits, in the same size everywhere.
  writeLifts(pen) {
    const { width, height } = this.box;
    if (width < 16 || height < 10) return;
    pen.textAlign = "center";
    const texts = this.all.map((block) => ({ block, text: liftText(this.liftOf(block)) }));
    const widest = (size) => {
      pen.font = font(size, 500);
      return largest(texts, ({ text }) => pen.measureText(text).width);
    };
    let size = Math.min(15, Math.max(9, height * 0.36));
    while (size > 9 && widest(size) > width - 4) size--;
    pen.font = font(size, 500);
    for (const { block, text } of texts) {
      if (pen.measureText(text).width > width - 2) continue;
      pen.fillStyle = this.lift.shade(this.liftOf(block)).ink;
      pen.fillText(text, ...this.middle(block));
    }
  }

  drawMarks(pen) {
    if (this.cursor) strokeFrame(pen, ...this.rectangle(this.cursor, 1));
    if (!this.lit || this.names[this.lit.side] || this.lit.cluster < 0) return;
    const { rows, columns } = this.shape, { side, cluster } = this.lit;
    const place = this.data.view[side].clusters.indexOf(cluster);
    const [x, y, width, height] = this.rectangle({ rows: 0, columns: 0, [side]: place });
    if (side === "rows") strokeFrame(pen, x, y, width * columns, height);
    else strokeFrame(pen, x, y, width, height * rows);
  }

  under(event) {
    const corner = this.canvas.getBoundingClientRect();
    const { left, top, width, height } = this.box, shape = this.shape;
    const columns = Math.floor((event.clientX - corner.left - left) / width);
    const rows = Math.floor((event.clientY - corner.top - top) / height);
    const isInside = rows >= 0 && columns >= 0 && rows < shape.rows && columns < shape.columns;
    return isInside ? { rows, columns } : null;
  }

  describe(block) {
    const { share, expected } = this.data.view, i = this.index(block);
    const name = (side) => this.describeSide(side, block[side]);
    return [
      textLine("strong", ...name("rows"), " × ", ...name("columns")),
      textLine("", `lift ${liftText(this.liftOf(block))}`),
      textLine("soft", `${percentText(share[i])} of the weight, ${percentText(expected[i])} by chance`),
    ];
  }

  // An element, or a cluster by its number and title.
  describeSide(side, place) {
    if (this.names[side]) return [isolated(this.names[side][place])];
    const cluster = this.clusterAt(side, place), number = `${this.data[side].kind} cluster ${cluster}`;
    if (!this.data.view.nodes[side]) return [isolated(number)];
    return [isolated(number), " (", isolated(this.data.titleOf(side, cluster)), ")"];
  }

  choose(block) {
    if (!block) return;
    const [rows, columns] = SIDES.map((side) => this.clusterAt(side, block[side]));
    this.onChoose?.({ rows, columns });
  }

  leave() {
    this.cursor = null;
    tooltip.hide();
    this.draw();
  }

  onMove(event) {
    const block = this.under(event);
    this.canvas.style.cursor = block ? "pointer" : "default";
    if (block) tooltip.show(this.describe(block), event.clientX, event.clientY);
    else tooltip.hide();
  }

  onKey(event) {
    if (ARROWS[event.key]) this.step(...ARROWS[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && this.cursor) this.choose(this.cursor);
    else return;
    event.preventDefault();
  }

  step(side, direction) {
    const { rows, columns } = this.shape, block = this.cursor ?? { rows: 0, columns: -1 };
    const next = { ...block, [side]: block[side] + direction };
    this.cursor = { rows: within(next.rows, rows), columns: within(next.columns, columns) };
    this.draw();
    const { left, top } = this.canvas.getBoundingClientRect(), [x, y] = this.middle(this.cursor);
    tooltip.show(this.describe(this.cursor), left + x, top + y);
    this.onStep?.(this.describe(this.cursor));
  }
}
