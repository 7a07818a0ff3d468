// Beside the block matrix: titles where there is room for them, else numbers of clusters.

const LINE = 13; // pixels of a line of text

class BlockMargins {
  constructor(data, names, shape, room) {
    Object.assign(this, { data, names, shape });
    const pen = measuringPen();
    this.hasTitles = room >= 400;
    const longest = (side) => largest(this.labels(side), (label) => pen.measureText(label).width + 14);
    const wide = Math.min(longest("rows"), room * (this.hasTitles ? 0.34 : 0.28));
    const high = this.heightOf(room - wide);
    this.isRowTitled = Boolean(this.names.rows) || (this.hasTitles && high / shape.rows >= LINE);
    this.left = this.isRowTitled ? Math.max(34, wide) : 34;
    this.width = (room - this.left - 2) / shape.columns; // of one block
    this.height = this.heightOf(room - this.left) / shape.rows;
    this.turned = Boolean(this.names.columns) || (this.width < 70 && this.width >= LINE);
    const isTitled = this.names.columns || this.hasTitles;
    this.top = isTitled && this.turned ? Math.min(130, longest("columns")) : this.width >= 70 ? 38 : 26;
    this.total = this.top + this.height * shape.rows + 2;
  }

  // Blocks are wider than high; many of them still get a line of text each.
  heightOf(width) {
    const { rows, columns } = this.shape, wanted = rows * Math.max(width / columns * 0.62, 26);
    const most = Math.max(260, innerHeight * 0.62, Math.min((LINE + 1) * rows, innerHeight * 0.9));
    return Math.min(Math.max(120, wanted), most);
  }

  cluster(side, place) { return this.data.view[side].clusters[place]; }

  title(side, place) {
    return this.data.view.nodes[side] ? this.data.titleOf(side, this.cluster(side, place)) : "";
  }

  // The full label of each place: a name, or number and title.
  labels(side) {
    const label = (place) => this.names[side]?.[place]
      ?? `${this.cluster(side, place)} ${this.title(side, place)}`;
    return Array.from({ length: this.shape[side] }, (_, place) => label(place));
  }

  write(pen) {
    pen.fillStyle = colour("--muted");
    this.writeRows(pen);
    this.writeColumns(pen);
  }

  writeRows(pen) {
    pen.font = font(12, this.isRowTitled ? 400 : 600);
    pen.textAlign = "right";
    const labels = this.labels("rows"), step = Math.ceil(LINE / this.height);
    for (let place = 0; place < this.shape.rows; place += step) {
      const text = this.isRowTitled ? labels[place] : String(this.cluster("rows", place));
      const lines = wrapped(pen, text, this.left - 10, Math.min(3, Math.floor(this.height / (LINE + 1))));
      writeLines(pen, lines, this.left - 7, this.top + (place + 0.5) * this.height);
    }
  }

  writeColumns(pen) {
    const labels = this.labels("columns"), isTitled = this.names.columns || this.hasTitles;
    const step = Math.ceil((this.turned ? LINE - 1 : 20) / this.width);
    for (let place = 0; place < this.shape.columns; place += step) {
      const x = this.left + (place + 0.5) * this.width;
      const text = isTitled && (this.turned || this.width >= 70) ? labels[place]
        : String(this.cluster("columns", place));
      if (this.turned && isTitled) this.writeTurned(pen, text, x);
      else this.writeAbove(pen, text, x);
    }
  }

  writeTurned(pen, text, x) {
    pen.font = font(12);
    pen.textAlign = "left";
    pen.save();
    pen.translate(x, this.top - 7);
    pen.rotate(-Math.PI / 2);
    pen.fillText(clipped(pen, text, this.top - 10), 0, 0);
    pen.restore();
  }

  writeAbove(pen, text, x) {
    pen.font = font(12, this.width >= 70 ? 400 : 600);
    pen.textAlign = "center";
    const lines = wrapped(pen, text, this.width - 6, this.top > 30 ? 2 : 1);
    writeLines(pen, lines, x, this.top - 6 - lines.length * LINE / 2);
  }
}
