// Cells put together where there are more of them than pixels.

// Which bin each element of a side falls into, how many each bin has, and where bins are drawn.
function binsOf({ at }, span, density) {
  const pixels = Math.round(span.length * density);
  const first = Math.floor(span.from), last = Math.min(span.count, Math.ceil(span.to));
  const isSingle = last - first <= pixels; // an element a bin
  const size = isSingle ? last - first : pixels;
  const bin = new Int32Array(span.count).fill(-1);
  const count = new Uint32Array(size);
  for (let p = first; p < last; p++) {
    const b = isSingle ? p - first
      : within(Math.floor((p + 0.5 - span.from) / (span.to - span.from) * size), size);
    bin[at[p]] = b;
    count[b]++;
  }
  const [start, length] = isSingle
    ? [span.pixel(first), size * span.cell] : [span.start, span.length];
  return { bin, count, size, first, last, start, length };
}

// The mean of the cells in each bin, row by row; `at` holds the rows as they are drawn.
function meansOf(cells, at, rows, columns) {
  const means = new Float32Array(rows.size * columns.size);
  for (let p = rows.first; p < rows.last; p++) {
    const row = at[p], offset = rows.bin[row] * columns.size;
    for (let e = cells.starts[row]; e < cells.starts[row + 1]; e++) {
      const b = columns.bin[cells.columns[e]];
      if (b >= 0) means[offset + b] += cells.levels[cells.codes[e]];
    }
  }
  for (let r = 0, i = 0; r < rows.size; r++) {
    for (let c = 0; c < columns.size; c++, i++) {
      if (means[i] > 0) means[i] /= rows.count[r] * columns.count[c];
    }
  }
  return means;
}

// The 99th percentile of the positive numbers, from at most some 60,000 of them.
function highOf(numbers) {
  const step = Math.max(1, Math.floor(numbers.length / 60000));
  const sample = [];
  for (let i = 0; i < numbers.length; i += step) if (numbers[i] > 0) sample.push(numbers[i]);
  return quantile(sample, 0.99) || 1;
}
