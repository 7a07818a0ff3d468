// Beside the matrix: names or, where cells are too small for them, the numbers of clusters.

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

// Numbers that would touch the one before are left out.
function drawClusterNumbers(pen, heatmap, side) {
  const { rows, columns } = heatmap.spans, span = heatmap.spans[side], isRow = side === "rows";
  pen.font = font(12, 600);
  let last = -Infinity;
  for (const { cluster, start, end } of heatmap.data.view[side].bands) {
    const from = Math.max(span.start, span.pixel(start)), to = Math.min(span.end, span.pixel(end));
    const text = cluster < 0 ? "none" : String(cluster);
    const half = isRow ? 6.5 : pen.measureText(text).width / 2 + 3;
    const middle = (from + to) / 2;
    if (to - from < 2 || middle - half < last) continue;
    const isLit = heatmap.lit?.side === side && heatmap.lit.cluster === cluster;
    pen.fillStyle = colour(isLit ? "--accent" : "--muted");
    if (isRow) writeBeside(pen, columns.start, text, middle);
    else {
      pen.textAlign = "center";
      pen.fillText(text, middle, rows.start - 10);
    }
    last = middle + half;
  }
}
