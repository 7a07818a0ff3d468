// What is drawn over the cells: borders between clusters, the highlight, and the cursor.

const PLAIN = 24; // pixels of a cluster, on average, from which borders are drawn in full

// The rectangle from one pixel of a side to another, across all of the other side.
function strip({ rows, columns }, side, from, to) {
  return side === "rows" ? [columns.start, from, columns.length, to - from]
    : [from, rows.start, to - from, rows.length];
}

// The more clusters there are the fainter, so that lines never hide the cells.
function drawBorders(pen, spans, view) {
  pen.fillStyle = colour("--border");
  for (const side of ["columns", "rows"]) {
    const { bands } = view[side], span = spans[side];
    pen.globalAlpha = Math.min(1, span.cell * span.count / bands.length / PLAIN);
    pen.beginPath();
    for (const { end } of bands.slice(0, -1)) {
      const pixel = Math.round(span.pixel(end));
      const isInside = pixel >= span.start && pixel < span.end;
      if (isInside) pen.rect(...strip(spans, side, pixel, pixel + 1));
    }
    pen.fill();
  }
  pen.globalAlpha = 1;
}

// Fade all but the cluster, and frame the element.
function drawHighlight(pen, spans, view, { side, cluster, element }) {
  const span = spans[side], { bands, place } = view[side];
  const band = bands.find((each) => each.cluster === cluster);
  if (band) {
    pen.fillStyle = colour("--shade");
    pen.fillRect(...strip(spans, side, span.start, Math.max(span.start, span.pixel(band.start))));
    pen.fillRect(...strip(spans, side, Math.min(span.end, span.pixel(band.end)), span.end));
  }
  if (element === undefined) return;
  const from = span.pixel(place[element]);
  const [x, y, width, height] = strip(spans, side, from, from + Math.max(2, span.cell));
  const beyond = 2; // the ends of the frame are outside, where they are not seen
  if (side === "rows") strokeFrame(pen, x - beyond, y, width + 2 * beyond, height);
  else strokeFrame(pen, x, y - beyond, width, height + 2 * beyond);
}

function drawCursor(pen, { rows, columns }, cursor) {
  strokeFrame(pen, columns.pixel(cursor.columns) - 1, rows.pixel(cursor.rows) - 1,
    Math.max(6, columns.cell) + 2, Math.max(6, rows.cell) + 2);
}

function strokeFrame(pen, ...rectangle) {
  pen.strokeStyle = colour("--accent");
  pen.lineWidth = 2;
  pen.strokeRect(...rectangle);
}
