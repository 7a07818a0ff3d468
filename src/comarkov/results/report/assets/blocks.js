// Lift: how many times more mass a block has than by chance, as colour and as text.

const FURTHEST = 5; // octaves of lift at the end of the scale, at most

class Lift {
  // The scale is that of the fit at every β, so that colours can be compared.
  constructor({ share, expected }) {
    const octaves = Array.from(share, (mass, i) =>
      (mass > 0 && expected[i] > 0 ? Math.log2(mass / expected[i]) : 0));
    this.far = Math.min(FURTHEST, Math.ceil(Math.max(1, largest(octaves, (each) => each))));
  }

  // The colour of a block, and that of the text in it.
  shade(lift) {
    const share = Math.max(-1, Math.min(1, Math.log2(lift) / this.far));
    const rgb = liftScale()((1 + share) / 2);
    return { background: css(rgb), color: inkOn(rgb) };
  }

  drawLegend(box) {
    const field = (_, i) => newElement("i", { class: "field", style: this.shade(2 ** (i - this.far)) },
      i < this.far ? `×1/${2 ** (this.far - i)}` : `×${2 ** (i - this.far)}`);
    box.replaceChildren("less ", ...Array.from({ length: 2 * this.far + 1 }, field), " more than expected");
  }
}

// The block matrix: a table with one cell for each pair of clusters, coloured by its lift.

const WRITTEN = 24; // columns up to which lifts are written
const CELL = [52, 30], TITLE_ROOM = { rows: 240, columns: 170 }; // pixels of the picture that is saved

class Blocks {
  constructor(box, data) {
    Object.assign(this, { box, data, lit: null, lift: new Lift(data.view) });
    this.names = { rows: this.namesOf(data.rows), columns: this.namesOf(data.columns) };
    box.addEventListener("pointermove", (event) => this.show(event.target, event.clientX, event.clientY));
    box.addEventListener("pointerleave", () => tooltip.hide());
    box.addEventListener("focusout", () => tooltip.hide());
    box.addEventListener("click", ({ target }) => this.choose(target));
    box.addEventListener("keydown", (event) => this.onKey(event));
  }

  // The elements that stand for a side that is not clustered, or null.
  namesOf(side) {
    if (side.clusters) return null;
    const place = new Map(Array.from(side.from, (from, i) => [from, i]));
    return side.shown.map((from) => side.names[place.get(from)]);
  }

  draw() {
    const [rows, columns] = this.data.view.shape;
    const head = newElement("tr", {}, newElement("td", {}),
      ...Array.from({ length: columns }, (_, column) => this.heading("columns", column)));
    const lines = Array.from({ length: rows }, (_, row) => newElement("tr", {}, this.heading("rows", row),
      ...Array.from({ length: columns }, (_, column) => this.cell(row, column, columns <= WRITTEN))));
    const table = newElement("table", { class: columns > 8 ? "blocks turned" : "blocks" },
      newElement("thead", {}, head), newElement("tbody", {}, ...lines));
    this.box.replaceChildren(table);
    this.cells[0]?.setAttribute("tabindex", "0");
  }

  get cells() { return [...this.box.querySelectorAll("tbody td")]; }

  heading(side, place) {
    const isLit = this.lit?.side === side && !this.names[side] && this.lit.cluster === place;
    const edge = side === "rows" ? "borderRightColor" : "borderBottomColor";
    const isColoured = !this.names[side] && this.data.clusterColour;
    const style = isColoured ? { [edge]: this.data.clusterColour(side, place) } : {};
    return newElement("th", { scope: side === "rows" ? "row" : "col", class: isLit ? "lit" : "", style },
      isolated(this.nameOf(side, place)));
  }

  // The lift of a block, and its place in the tables of shares.
  at(row, column) {
    const { share, expected, shape: [, wide] } = this.data.view;
    const i = row * wide + column;
    return { lift: expected[i] > 0 ? share[i] / expected[i] : 1, share: share[i], expected: expected[i] };
  }

  cell(row, column, isWritten) {
    const { lift } = this.at(row, column);
    return newElement("td", { tabindex: "-1", "data-row": row, "data-column": column,
      "aria-label": liftText(lift), style: this.lift.shade(lift) }, isWritten ? liftText(lift) : "");
  }

  // As a picture: titles beside and above cells with their lifts.
  get size() {
    const [rows, columns] = this.data.view.shape;
    return [TITLE_ROOM.rows + columns * CELL[0] + 10, TITLE_ROOM.columns + rows * CELL[1] + 10];
  }

  drawWith(pen) {
    const [rows, columns] = this.data.view.shape, [wide, high] = CELL, { rows: left, columns: top } = TITLE_ROOM;
    Object.assign(pen, { textBaseline: "middle", font: font(12) });
    const write = (text, x, y, ink, align) => {
      Object.assign(pen, { fillStyle: ink, textAlign: align });
      pen.fillText(text, x, y);
    };
    for (let row = 0; row < rows; row++) {
      const name = clipped(pen, this.nameOf("rows", row), left - 16);
      write(name, left - 8, top + (row + 0.5) * high, colour("--ink"), "right");
      for (let column = 0; column < columns; column++) {
        const { lift } = this.at(row, column), { background, color } = this.lift.shade(lift);
        pen.fillStyle = background;
        pen.fillRect(left + column * wide, top + row * high, wide - 1, high - 1);
        write(liftText(lift), left + (column + 0.5) * wide, top + (row + 0.5) * high, color, "center");
      }
    }
    for (let column = 0; column < columns; column++) {
      pen.save();
      pen.translate(left + (column + 0.5) * wide, top - 8);
      pen.rotate(-Math.PI / 2);
      write(clipped(pen, this.nameOf("columns", column), top - 16), 0, 0, colour("--ink"), "left");
      pen.restore();
    }
  }

  describe({ dataset: { row, column } }) {
    const { lift, share, expected } = this.at(+row, +column);
    return [
      textLine("strong", isolated(this.nameOf("rows", +row)), " × ", isolated(this.nameOf("columns", +column))),
      textLine("", `lift ${liftText(lift)}`),
      textLine("soft", `${percentText(share)} of the weight, ${percentText(expected)} by chance`),
    ];
  }

  nameOf(side, place) { return this.names[side]?.[place] ?? this.data.titleOf(side, place); }

  show(cell, x, y) {
    if (cell.dataset.row) tooltip.show(this.describe(cell), x, y);
    else tooltip.hide();
  }

  choose(cell) {
    if (!cell.dataset.row) return;
    this.onChoose?.({ rows: +cell.dataset.row, columns: +cell.dataset.column });
  }

  onKey(event) {
    const { row, column } = event.target.dataset, [rows, columns] = this.data.view.shape;
    if (ARROWS[event.key]) {
      const [side, step] = ARROWS[event.key], place = { rows: +row, columns: +column };
      place[side] = within(place[side] + step, side === "rows" ? rows : columns);
      const cell = this.cells[place.rows * columns + place.columns], box = cell.getBoundingClientRect();
      cell.focus();
      this.show(cell, box.right, box.bottom);
      this.onStep?.(this.describe(cell));
    } else if (event.key === "Enter" || event.key === " ") this.choose(event.target);
    else return;
    event.preventDefault();
  }
}
