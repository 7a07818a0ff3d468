// The matrix, reordered: as many cells to a pixel as it takes, or as many pixels to a cell.

const NAMED = 11; // pixels of a cell from which its name is written
const READABLE = 3; // pixels of a cell from which the tooltip shows its entry

class Heatmap {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.picture = new Picture(data);
    this.classes = data.classes;
    this.spans = { rows: new Span(data.rows.n), columns: new Span(data.columns.n) };
    this.longest = largest(data.columns.names, (name) => name.length); // letters
    this.lit = null; // { side, cluster, element } that is highlighted
    this.cursor = null; // the places { rows, columns } of the cell that keys have moved to
  }

  get isWhole() { return this.spans.rows.isWhole && this.spans.columns.isWhole; }

  drawLater() {
    this.waiting ||= requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  draw() {
    const height = this.layout();
    const { pen, density } = fitted(this.canvas, height);
    const { rows, columns } = this.spans;
    const box = [columns.start, rows.start, columns.length, rows.length];
    pen.fillStyle = colour("--cell-0");
    pen.fillRect(...box);
    pen.save();
    pen.beginPath();
    pen.rect(...box);
    pen.clip();
    this.picture.draw(pen, this.spans, density);
    this.drawMarks(pen);
    pen.restore();
    pen.strokeStyle = colour("--line");
    pen.strokeRect(columns.start - 0.5, rows.start - 0.5, columns.length + 1, rows.length + 1);
    this.drawLabels(pen);
    this.onDraw?.();
  }

  // Give each side its pixels, and return the height of the canvas.
  layout() {
    const { rows, columns } = this.spans;
    const width = this.canvas.parentElement.clientWidth, isNarrow = width < 560;
    const left = isNarrow ? 100 : Math.min(170, Math.round(width * 0.2)); // with names
    const top = Math.min(isNarrow ? 84 : 120, 24 + 7 * this.longest);
    const height = top + Math.round(this.heightOfCells(width, isNarrow ? 300 : 380));
    this.named = {
      rows: (height - top) / (rows.to - rows.from) >= NAMED,
      columns: (width - left) / (columns.to - columns.from) >= NAMED,
    };
    const hasTitles = (side) => !isNarrow && this.data.view.nodes[side] !== null;
    this.titled = { rows: hasTitles("rows"), columns: hasTitles("columns") };
    columns.start = this.named.rows || this.titled.rows ? left : this.data.rows.clusters ? 40 : 8;
    rows.start = this.named.columns ? top : this.data.columns.clusters ? 24 : 8;
    columns.length = Math.max(60, width - columns.start - 1 - this.stripRoom("rows"));
    rows.length = height - rows.start - 1;
    return height + this.stripRoom("columns");
  }

  // The pixels that the classes of a side take beside the matrix.
  stripRoom(side) { return this.classes.has(side) ? STRIP + STRIP_GAP : 0; }

  // Few rows need not be thick.
  heightOfCells(width, least) {
    const wanted = Math.max(360, Math.min(width * 0.78, innerHeight * 0.66, 980));
    return Math.max(least, Math.min(wanted, 30 * this.data.rows.n));
  }

  drawMarks(pen) {
    drawBorders(pen, this.spans, this.data.view);
    if (this.lit) drawHighlight(pen, this.spans, this.data.view, this.lit);
    if (this.cursor) drawCursor(pen, this.spans, this.cursor);
  }

  drawLabels(pen) {
    pen.textBaseline = "middle";
    for (const side of ["rows", "columns"]) {
      if (this.named[side]) drawNames(pen, this, side);
      else drawClusterLabels(pen, this, side);
      if (this.classes.has(side)) drawStrip(pen, this, side);
    }
  }

  // The places under a point of the canvas, or null beside the matrix.
  under([x, y]) {
    const rows = this.spans.rows.place(y), columns = this.spans.columns.place(x);
    return rows === null || columns === null ? null : { rows, columns };
  }

  describe(places) {
    const { view } = this.data;
    const row = view.rows.at[places.rows], column = view.columns.at[places.columns];
    const value = this.data.value(row, column);
    const text = value === null ? `0, or below ${entryText(about.least)}` : entryText(value);
    const isNear = Math.min(this.spans.rows.cell, this.spans.columns.cell) >= READABLE;
    return [
      this.nameLine("rows", row),
      this.nameLine("columns", column),
      isNear ? textLine("", `entry ${text}`) : textLine("soft", "zoom in for single entries"),
    ];
  }

  nameLine(side, element) {
    const more = Math.round(1 / this.spans[side].cell) - 1; // others in the same pixel
    const others = more > 0 ? ` and about ${more} more` : "";
    const cluster = this.data.view[side].label[element];
    const where = cluster < 0 ? " · in no cluster" : ` · cluster ${cluster}`;
    const known = this.classes.nameOf(side, element);
    return textLine("strong", isolated(this.data[side].names[element]),
      others + (this.data[side].clusters ? where : ""), ...(known ? [" · ", isolated(known)] : []));
  }

  // Which part of the matrix is shown, in words.
  get extent() {
    const part = (side) => {
      const { from, to, count, isWhole } = this.spans[side];
      return isWhole ? `all ${whole(count)} ${side}`
        : `${side} ${whole(Math.floor(from) + 1)}–${whole(Math.ceil(to))} of ${whole(count)}`;
    };
    return `${part("rows")} × ${part("columns")}`;
  }
}

// --- beside the matrix: names or, where cells are too small, numbers and titles of clusters ---

function drawNames(pen, heatmap, side) {
  const span = heatmap.spans[side], { at } = heatmap.data.view[side];
  pen.font = font(Math.min(13, Math.max(10, span.cell - 1)));
  for (let p = Math.floor(span.from); p < Math.min(Math.ceil(span.to), span.count); p++) {
    const middle = span.pixel(p + 0.5);
    if (middle <= span.start || middle >= span.end) continue;
    const isLit = heatmap.lit?.side === side && heatmap.lit.element === at[p];
    pen.fillStyle = colour(isLit ? "--accent" : "--ink");
    writeName(pen, heatmap.spans, side, heatmap.data[side].names[at[p]], middle);
  }
}

function writeName(pen, { rows, columns }, side, name, middle) {
  if (side === "rows") {
    pen.textAlign = "right";
    pen.fillText(clipped(pen, name, columns.start - 10), columns.start - 7, middle);
    return;
  }
  pen.save();
  pen.translate(middle, rows.start - 7);
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "left";
  pen.fillText(clipped(pen, name, rows.start - 12), 0, 0);
  pen.restore();
}

// The number of each cluster, with its title where there is room. A label that would touch the one
// before is left out.
function drawClusterLabels(pen, heatmap, side) {
  const span = heatmap.spans[side];
  let last = -Infinity;
  for (const { cluster, start, end } of heatmap.data.view[side].bands) {
    const from = Math.max(span.start, span.pixel(start)), to = Math.min(span.end, span.pixel(end));
    pen.font = font(12, heatmap.titled[side] ? 400 : 600);
    const lines = clusterLabel(pen, heatmap, side, cluster, to - from);
    const half = side === "rows" ? 6.5 * lines.length : pen.measureText(lines[0]).width / 2 + 3;
    const middle = (from + to) / 2;
    if (to - from < 2 || middle - half < last) continue;
    const isLit = heatmap.lit?.side === side && heatmap.lit.cluster === cluster;
    pen.fillStyle = colour(isLit ? "--accent" : "--muted");
    pen.textAlign = side === "rows" ? "right" : "center";
    const { rows, columns } = heatmap.spans;
    if (side === "rows") writeLines(pen, lines, columns.start - 7, middle);
    else pen.fillText(lines[0], middle, rows.start - 10);
    last = middle + half;
  }
}

// The lines of a label that fit into so many pixels along the side.
function clusterLabel(pen, { data, spans, titled }, side, cluster, pixels) {
  if (cluster < 0) return ["none"];
  if (!titled[side]) return [String(cluster)];
  const text = `${cluster} ${data.titleOf(side, cluster)}`;
  if (side === "rows") return wrapped(pen, text, spans.columns.start - 10, Math.min(4, Math.floor(pixels / 14)));
  return [pixels < 50 ? String(cluster) : clipped(pen, text, pixels - 8)];
}
