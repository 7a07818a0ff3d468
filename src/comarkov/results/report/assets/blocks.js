// The block matrix: one field for each pair of clusters, coloured by the logarithm of its lift.

const FURTHEST = 5; // octaves of lift at either end of the scale, at most

class Blocks {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.viewIndex = data.fit;
    this.cursor = null;
    this.lit = null;
    this.recolour();
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerleave", () => tip.hide());
    canvas.addEventListener("click", (event) => {
      const block = this.under(event);
      if (block) this.onChoose?.(block);
    });
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("blur", () => { this.cursor = null; tip.hide(); this.draw(); });
  }

  get view() { return this.data.view(this.viewIndex); }

  recolour() { this.scale = diverging(); }

  octaves(i) {
    const { share, expected } = this.view;
    return expected[i] > 0 ? Math.log2(share[i] / expected[i]) : 0;
  }

  shade(octaves) { return this.scale(0.5 + Math.max(-1, Math.min(1, octaves / this.far)) / 2); }

  // The scale is that of the fit at every β, so that colours can be compared.
  get far() {
    if (this.furthest === undefined) {
      const { share, expected } = this.data.view(this.data.fit);
      let most = 1;
      share.forEach((mass, i) => {
        if (mass > 0 && expected[i] > 0) most = Math.max(most, Math.abs(Math.log2(mass / expected[i])));
      });
      this.furthest = Math.min(FURTHEST, Math.ceil(most * 2) / 2);
    }
    return this.furthest;
  }

  label(name, i) {
    const side = this.data[name];
    if (side.clusters) return String(i);
    return this.shownNames(name)[i];
  }

  shownNames(name) { // of a side that is not clustered
    this.kept ??= {};
    if (!this.kept[name]) {
      const side = this.data[name];
      const place = new Map(Array.from(side.from, (from, i) => [from, i]));
      this.kept[name] = side.shown.map((from) => side.names[place.get(from)]);
    }
    return this.kept[name];
  }

  draw() {
    const [rows, columns] = this.view.shape;
    const outer = this.canvas.parentElement.clientWidth;
    const left = this.data.rows.clusters ? 34 : 110;
    const top = this.data.columns.clusters ? 26 : 96;
    const wide = outer - left - 2;
    const size = Math.max(wide / columns * 0.62, 26);
    const high = Math.min(Math.max(120, size * rows), Math.max(260, innerHeight * 0.62));
    const { pen } = fitted(this.canvas, top + high + 2);
    const w = wide / columns, h = high / rows;
    this.box = { left, top, w, h };
    const gap = Math.min(w, h) > 8 ? 1 : 0;
    pen.textBaseline = "middle";
    for (let a = 0; a < rows; a++) {
      for (let b = 0; b < columns; b++) {
        pen.fillStyle = this.shade(this.octaves(a * columns + b));
        pen.fillRect(left + b * w + gap, top + a * h + gap, w - 2 * gap, h - 2 * gap);
      }
    }
    this.write(pen, rows, columns);
    this.drawLabels(pen, rows, columns);
    this.drawLight(pen, rows, columns);
  }

  text(octaves) {
    const lift = 2 ** octaves;
    if (lift < 0.005) return lift === 0 ? "0" : "<.01";
    return `×${d3.format(lift < 1 ? ".2~f" : ".2~r")(lift)}`;
  }

  // Numbers are written in all blocks or, where one would not fit, in none.
  write(pen, rows, columns) {
    const { left, top, w, h } = this.box;
    if (w < 24 || h < 18) return;
    pen.font = font(Math.min(15, Math.max(11, h * 0.36)), 500);
    pen.textAlign = "center";
    const octaves = d3.range(rows * columns).map((i) => this.octaves(i));
    const widest = d3.max(octaves, (each) => pen.measureText(this.text(each)).width);
    if (widest > w - 4) return;
    octaves.forEach((each, i) => {
      pen.fillStyle = d3.lab(this.shade(each)).l > 58 ? "#14171a" : "#ffffff";
      const a = Math.floor(i / columns), b = i % columns;
      pen.fillText(this.text(each), left + (b + 0.5) * w, top + (a + 0.5) * h);
    });
  }

  drawLabels(pen, rows, columns) {
    const { left, top, w, h } = this.box;
    pen.fillStyle = colour("--muted");
    pen.font = font(this.data.rows.clusters ? 12 : 11, 600);
    pen.textAlign = "right";
    const everyRow = Math.ceil(13 / h), everyColumn = Math.ceil((this.data.columns.clusters ? 20 : 12) / w);
    for (let a = 0; a < rows; a += everyRow) {
      pen.fillText(clipped(pen, this.label("rows", a), left - 8), left - 7, top + (a + 0.5) * h);
    }
    for (let b = 0; b < columns; b += everyColumn) {
      const text = this.label("columns", b);
      pen.save();
      pen.translate(left + (b + 0.5) * w, top - 8);
      if (!this.data.columns.clusters) pen.rotate(-Math.PI / 2);
      pen.textAlign = this.data.columns.clusters ? "center" : "left";
      pen.fillText(this.data.columns.clusters ? text : clipped(pen, text, top - 12), 0, 0);
      pen.restore();
    }
  }

  drawLight(pen, rows, columns) {
    const { left, top, w, h } = this.box;
    pen.strokeStyle = colour("--accent");
    pen.lineWidth = 2;
    if (this.cursor) {
      pen.strokeRect(left + this.cursor.b * w + 1, top + this.cursor.a * h + 1, w - 2, h - 2);
    }
    if (this.lit && this.data[this.lit.side].clusters && this.lit.cluster >= 0) {
      if (this.lit.side === "rows") pen.strokeRect(left, top + this.lit.cluster * h, columns * w, h);
      else pen.strokeRect(left + this.lit.cluster * w, top, w, rows * h);
    }
  }

  under(event) {
    const corner = this.canvas.getBoundingClientRect();
    const { left, top, w, h } = this.box;
    const b = Math.floor((event.clientX - corner.left - left) / w);
    const a = Math.floor((event.clientY - corner.top - top) / h);
    const [rows, columns] = this.view.shape;
    return a >= 0 && b >= 0 && a < rows && b < columns ? { a, b } : null;
  }

  describe({ a, b }) {
    const i = a * this.view.shape[1] + b;
    const { share, expected } = this.view;
    const name = (side, n) => (this.data[side].clusters
      ? `${this.data[side].kind} cluster ${n}` : this.label(side, n));
    return [
      said("strong", apart(name("rows", a)), " × ", apart(name("columns", b))),
      said("", `lift ×${expected[i] > 0 ? short(share[i] / expected[i]) : 1}`),
      said("soft", `${percent(share[i])} of the mass, ${percent(expected[i])} by chance`),
    ];
  }

  onMove(event) {
    const block = this.under(event);
    this.canvas.style.cursor = block ? "pointer" : "default";
    if (block) tip.show(this.describe(block), event.clientX, event.clientY);
    else tip.hide();
  }

  onKey(event) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (step) {
      const [rows, columns] = this.view.shape;
      const { a, b } = this.cursor ?? { a: 0, b: -1 };
      const inside = (value, count) => Math.max(0, Math.min(count - 1, value));
      this.cursor = { a: inside(a + step[0], rows), b: inside(b + step[1], columns) };
      this.draw();
      const corner = this.canvas.getBoundingClientRect();
      tip.show(this.describe(this.cursor), corner.left + this.box.left + (this.cursor.b + 0.5) * this.box.w,
        corner.top + this.box.top + (this.cursor.a + 0.5) * this.box.h);
      this.onTell?.(this.describe(this.cursor));
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor) {
      this.onChoose?.(this.cursor);
    } else return;
    event.preventDefault();
  }

  legend(element) {
    const width = Math.min(340, element.clientWidth || 340), inner = width - 40;
    const svg = d3.select(element).selectAll("svg").data([0]).join("svg")
      .attr("width", width).attr("height", 44);
    svg.selectAll("*").remove();
    const steps = 48;
    svg.selectAll("rect").data(d3.range(steps)).join("rect")
      .attr("x", (i) => 20 + i * inner / steps).attr("width", inner / steps + 0.6)
      .attr("y", 4).attr("height", 10).attr("fill", (i) => this.scale(i / (steps - 1)));
    const axis = d3.scaleLinear([-this.far, this.far], [20, 20 + inner]);
    const step = this.far > 3 ? 2 : 1, last = Math.floor(this.far / step) * step;
    const whole = d3.range(-last, last + 1, step);
    svg.append("g").attr("transform", "translate(0,14)").call(
      d3.axisBottom(axis).tickValues(whole).tickSize(4)
        .tickFormat((o) => (o < 0 ? `×1/${2 ** -o}` : `×${2 ** o}`)));
  }
}
