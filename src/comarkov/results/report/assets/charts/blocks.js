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
    const { rows, columns } = this.shape;
    const left = this.names.rows ? 110 : 34, top = this.names.columns ? 96 : 26;
    const width = this.canvas.parentElement.clientWidth - left - 2;
    const wanted = rows * Math.max(width / columns * 0.62, 26);
    const height = Math.min(Math.max(120, wanted), Math.max(260, innerHeight * 0.62));
    this.box = { left, top, width: width / columns, height: height / rows }; // of one block
    const { pen } = fitted(this.canvas, top + height + 2);
    pen.textBaseline = "middle";
    this.drawFields(pen);
    this.writeLifts(pen);
    this.writeRowNames(pen);
    this.writeColumnNames(pen);
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
    const gap = Math.min(this.box.width, this.box.height) > 8 ? 1 : 0;
    for (const block of this.all) {
      pen.fillStyle = this.lift.shade(this.liftOf(block)).fill;
      pen.fillRect(...this.rectangle(block, gap));
    }
  }

  // Numbers are written in all blocks or, where one would not fit, in none.
  writeLifts(pen) {
    const { width, height } = this.box;
    if (width < 24 || height < 18) return;
    pen.font = font(Math.min(15, Math.max(11, height * 0.36)), 500);
    pen.textAlign = "center";
    const text = (block) => this.lift.text(this.liftOf(block));
    if (largest(this.all, (block) => pen.measureText(text(block)).width) > width - 4) return;
    for (const block of this.all) {
      pen.fillStyle = this.lift.shade(this.liftOf(block)).ink;
      pen.fillText(text(block), ...this.middle(block));
    }
  }

  writeRowNames(pen) {
    const { left, height } = this.box;
    pen.fillStyle = colour("--muted");
    pen.font = font(this.names.rows ? 11 : 12, 600);
    pen.textAlign = "right";
    for (let a = 0; a < this.shape.rows; a += Math.ceil(13 / height)) {
      const [, y] = this.middle({ rows: a, columns: 0 });
      pen.fillText(clipped(pen, this.label("rows", a), left - 8), left - 7, y);
    }
  }

  writeColumnNames(pen) {
    const { top, width } = this.box, isUpright = this.names.columns !== null;
    pen.textAlign = isUpright ? "left" : "center";
    for (let b = 0; b < this.shape.columns; b += Math.ceil((isUpright ? 12 : 20) / width)) {
      const [x] = this.middle({ rows: 0, columns: b }), text = this.label("columns", b);
      pen.save();
      pen.translate(x, top - 8);
      if (isUpright) pen.rotate(-Math.PI / 2);
      pen.fillText(isUpright ? clipped(pen, text, top - 12) : text, 0, 0);
      pen.restore();
    }
  }

  label(side, i) { return this.names[side] ? this.names[side][i] : String(this.clusterAt(side, i)); }

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
    const name = (side) => isolated(this.names[side] ? this.label(side, block[side])
      : `${this.data[side].kind} cluster ${this.clusterAt(side, block[side])}`);
    return [
      textLine("strong", name("rows"), " × ", name("columns")),
      textLine("", `lift ×${short(this.liftOf(block))}`),
      textLine("soft", `${percent(share[i])} of the mass, ${percent(expected[i])} by chance`),
    ];
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
