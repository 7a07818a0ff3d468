// A strip of colours beside the matrix: the class of each row or, below it, of each column.

const STRIP = 11; // pixels of its width
const STRIP_GAP = 3; // pixels between it and the matrix

function drawStrip(pen, heatmap, side) {
  const { spans, classes } = heatmap, span = spans[side], codes = classes.codesOf(side);
  const beside = spans[otherSide(side)].end + STRIP_GAP, { at } = heatmap.data.view[side];
  const tally = new Uint32Array(classes.of(side).classes.length + 1);
  let run = Math.floor(span.start), last = null;
  const fill = (to) => {
    if (last === null) return;
    pen.fillStyle = classes.colourOf(side, last);
    if (side === "rows") pen.fillRect(beside, run, STRIP, to - run);
    else pen.fillRect(run, beside, to - run, STRIP);
  };
  for (let pixel = run; pixel < span.end; pixel++) {
    const placeOf = (edge) => (edge - span.start) / span.cell + span.from;
    const first = Math.max(0, Math.floor(placeOf(pixel))), end = Math.ceil(placeOf(pixel + 1));
    const code = mostFrequent(codes, at, first, end, tally);
    if (code === last) continue;
    fill(pixel);
    [run, last] = [pixel, code];
  }
  fill(Math.floor(span.end));
}

// The most frequent class of the elements at these places.
function mostFrequent(codes, at, first, end, tally) {
  const to = Math.min(end, at.length);
  let best = codes[at[first]];
  for (let place = first; place < to; place++) {
    const code = codes[at[place]];
    if (++tally[code] > tally[best]) best = code;
  }
  for (let place = first; place < to; place++) tally[codes[at[place]]] = 0;
  return best;
}
