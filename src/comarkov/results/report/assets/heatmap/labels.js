// Beside the matrix: names or, where cells are too small for them, numbers and titles of clusters.

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
    writeBeside(pen, columns.start, clipped(pen, name, columns.start - 10), middle);
    return;
  }
  pen.save();
  pen.translate(middle, rows.start - 7);
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "left";
  pen.fillText(clipped(pen, name, rows.start - 12), 0, 0);
  pen.restore();
}

function writeBeside(pen, left, text, middle) {
  pen.textAlign = "right";
  pen.fillText(text, left - 7, middle);
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
