// The matrix, reordered: as many cells to a pixel as it takes, or as many pixels to a cell.

const NAMED = 11; // pixels of a cell from which its name is written
const TREE = 34, BAR = 16, BAR_GAP = 3; // pixels of the merges and of the colours beside the matrix

class Heatmap {
  constructor(canvas, data) {
    Object.assign(this, { canvas, data, picture: new Picture(data), classes: data.classes });
    this.spans = { rows: new Span(data.rows.n), columns: new Span(data.columns.n) };
    const longest = (side) => largest(data[side].names, (name) => name.length); // letters
    this.longest = { rows: longest("rows"), columns: longest("columns") };
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

  // Give each side its pixels, and return the height of the canvas. Titles, trees and the colours of
  // clusters are on the left and at the top, names and classes on the right and at the bottom.
  layout() {
    const { rows, columns } = this.spans;
    const width = this.canvas.parentElement.clientWidth, isNarrow = width < 560;
    const height = Math.round(this.heightOfCells(width, isNarrow ? 300 : 380));
    const hasTree = (side) => !isNarrow && this.data.view.nodes[side]?.length > 1;
    this.titled = !isNarrow;
    this.tree = { rows: hasTree("rows") ? TREE : 0, columns: hasTree("columns") ? TREE : 0 };
    const isMany = (side) => this.data.level[side] > 1;
    const hasTitles = (side) => !isNarrow && this.data.view.nodes[side]?.some((_, cluster) => this.titleOf(side, cluster));
    const before = (side, titles) => (isMany(side)
      ? (hasTitles(side) ? titles : 6) + this.tree[side] + BAR + BAR_GAP : 4);
    columns.start = before("rows", Math.min(170, Math.round(width * 0.18)));
    rows.start = before("columns", 30);
    const right = this.stripRoom("rows"), bottom = this.stripRoom("columns");
    const room = (side, most) => Math.min(most, 24 + 7.6 * this.longest[side]); // for names
    const names = { rows: room("rows", isNarrow ? 96 : 140), columns: room("columns", isNarrow ? 70 : 96) };
    this.names = names;
    this.named = {
      rows: (height - names.columns) / (rows.to - rows.from) >= NAMED,
      columns: (width - columns.start - right - names.rows) / (columns.to - columns.from) >= NAMED,
    };
    columns.length = Math.max(60, width - columns.start - 1 - right - (this.named.rows ? names.rows : 0));
    rows.length = Math.max(60, height - rows.start - 1 - (this.named.columns ? names.columns : 0));
    return height + bottom;
  }

  // What a cluster is called, if it has more than a number.
  titleOf(side, cluster) { return this.data.titleOf(side, cluster).replace(/^cluster \d+$/, ""); }

  // The pixels that the classes of a side take beside the matrix.
  stripRoom(side) { return this.classes.has(side) ? STRIP + STRIP_GAP : 0; }

  // Few rows need not be thick.
  heightOfCells(width, least) {
    const wanted = Math.max(360, Math.min(width * 0.78, innerHeight * 0.7, 980));
    return Math.max(least, Math.min(wanted, 160 + 30 * this.data.rows.n));
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
      if (this.data.view[side].bands.length > 1) {
        drawColours(pen, this, side);
        drawClusterLabels(pen, this, side);
      }
      if (this.tree[side]) drawTree(pen, this, side);
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
    return [this.nameLine("rows", row), this.nameLine("columns", column), textLine("", `entry ${text}`)];
  }

  nameLine(side, element) {
    const more = Math.round(1 / this.spans[side].cell) - 1; // others in the same pixel
    const others = more > 0 ? ` and about ${more} more` : "";
    const cluster = this.data.view[side].label[element];
    const where = cluster < 0 ? " · in no cluster" : ` · cluster ${cluster + 1}`;
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

// --- beside the matrix: names where cells are large enough; colours, merges and titles of clusters

function drawNames(pen, heatmap, side) {
  const span = heatmap.spans[side], { at } = heatmap.data.view[side];
  pen.font = font(Math.min(13, Math.max(10, span.cell - 1)));
  for (let p = Math.floor(span.from); p < Math.min(Math.ceil(span.to), span.count); p++) {
    const middle = span.pixel(p + 0.5);
    if (middle <= span.start || middle >= span.end) continue;
    const isLit = heatmap.lit?.side === side && heatmap.lit.element === at[p];
    pen.fillStyle = colour(isLit ? "--accent" : "--ink");
    writeName(pen, heatmap, side, heatmap.data[side].names[at[p]], middle);
  }
}

function writeName(pen, heatmap, side, name, middle) {
  const isRow = side === "rows";
  const beside = heatmap.spans[otherSide(side)].end + heatmap.stripRoom(side) + 6;
  pen.save();
  pen.translate(isRow ? beside : middle, isRow ? middle : beside);
  if (!isRow) pen.rotate(-Math.PI / 2);
  pen.textAlign = isRow ? "left" : "right";
  pen.fillText(clipped(pen, name, heatmap.names[side] - 8), 0, 0);
  pen.restore();
}

// Where each cluster begins and ends on screen, those that are seen.
function bandsOnScreen({ spans, data }, side) {
  const span = spans[side];
  return data.view[side].bands.map(({ cluster, start, end }) => ({ cluster,
    from: Math.max(span.start, span.pixel(start)), to: Math.min(span.end, span.pixel(end)) }))
    .filter(({ from, to }) => to > from);
}

function drawColours(pen, heatmap, side) {
  const { rows, columns } = heatmap.spans;
  for (const { cluster, from, to } of bandsOnScreen(heatmap, side)) {
    pen.fillStyle = cluster < 0 ? colour("--line") : heatmap.data.clusterColour(side, cluster);
    const size = Math.max(1, to - from - 1), edge = BAR + BAR_GAP;
    const [x, y] = side === "rows" ? [columns.start - edge, from] : [from, rows.start - edge];
    pen.fillRect(x, y, side === "rows" ? BAR : size, side === "rows" ? size : BAR);
    if (cluster < 0 || size < 11) continue;
    pen.font = font(11, 650);
    pen.textAlign = "center";
    pen.fillStyle = colour("--paper");
    pen.fillText(String(cluster + 1), x + (side === "rows" ? BAR : size) / 2, y + (side === "rows" ? size : BAR) / 2 + 0.5);
  }
}

// The merges of the clusters that are shown: each fork at the bits lost up to it.
function drawTree(pen, heatmap, side) {
  const { data, spans } = heatmap, { tree } = data[side], nodes = data.view.nodes[side];
  const span = spans[side], edge = spans[otherSide(side)].start - BAR - BAR_GAP - 2, k = nodes.length;
  const base = tree.heightAt(k), most = tree.heightAt(1) - base || 1, at = new Map();
  for (const { cluster, start, end } of data.view[side].bands) {
    if (cluster >= 0) at.set(nodes[cluster], { along: span.pixel((start + end) / 2), deep: 0 });
  }
  const point = (deep, along) => (side === "rows" ? [edge - deep, along] : [along, edge - deep]);
  pen.save();
  pen.beginPath();
  pen.rect(...(side === "rows" ? [0, span.start, edge + 1, span.length] : [span.start, 0, span.length, edge + 1]));
  pen.clip();
  pen.strokeStyle = colour("--muted");
  pen.lineWidth = 1;
  pen.beginPath();
  tree.merges.slice(tree.leaves - k).forEach((children, i) => {
    const node = 2 * tree.leaves - k + i, [one, other] = children.map((child) => at.get(child));
    if (!one || !other) return at.set(node, one ?? other); // all members of a cluster were rejected
    const deep = Math.max(3, (TREE - 4) * Math.max(0, tree.height(node) - base) / most);
    pen.moveTo(...point(one.deep, one.along));
    for (const place of [[deep, one.along], [deep, other.along], [other.deep, other.along]]) pen.lineTo(...point(...place));
    return at.set(node, { along: (one.along + other.along) / 2, deep });
  });
  pen.stroke();
  pen.restore();
}

// The title of each cluster, or its number where there is no room. A label that would touch the one
// before is left out.
function drawClusterLabels(pen, heatmap, side) {
  const { rows, columns } = heatmap.spans, isRow = side === "rows";
  let last = -Infinity;
  for (const { cluster, from, to } of bandsOnScreen(heatmap, side)) {
    pen.font = font(12, heatmap.titled ? 500 : 600);
    const beside = (isRow ? columns : rows).start - BAR - BAR_GAP - heatmap.tree[side];
    const lines = clusterLabel(pen, heatmap, side, cluster, isRow ? [beside - 10, to - from] : [to - from - 6, 28]);
    const half = isRow ? 6.5 * lines.length : largest(lines, (line) => pen.measureText(line).width) / 2 + 3;
    const middle = (from + to) / 2;
    if (to - from < 2 || middle - half < last) continue;
    const isLit = heatmap.lit?.side === side && heatmap.lit.cluster === cluster;
    pen.fillStyle = colour(isLit ? "--accent" : "--ink");
    pen.textAlign = isRow ? "right" : "center";
    if (isRow) writeLines(pen, lines, beside - 6, middle);
    else writeLines(pen, lines, middle, beside - 3 - 6.5 * lines.length);
    last = middle + half;
  }
}

// The lines of a label that fit into so many pixels.
function clusterLabel(pen, heatmap, side, cluster, [wide, high]) {
  if (cluster < 0) return ["none"];
  if (!heatmap.titled || wide < 44) return [""];
  const title = heatmap.titleOf(side, cluster), lines = wrapped(pen, title, wide, Math.min(4, Math.floor(high / 14)));
  const isReadable = (part) => title.includes(`${part} `) || /\S{8}$/.test(part); // a word, or enough of it
  return lines.flatMap((line) => line.split("…").slice(0, -1)).every(isReadable) ? lines : [""];
}
