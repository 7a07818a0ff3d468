// The picture of all cells, where the page does not hold all of them.

// The bytes of the picture in the order that is shown. Pictures are stored in the diagonal order, of
// the fit first and then of each other β; in another order the pixels of clusters are moved.
function overviewOf(data) {
  const [high, wide] = about.overview, size = high * wide, { fit, shown } = data;
  const stored = shown === fit ? 0 : shown + (shown < fit ? 1 : 0);
  const bytes = data.sections.get("overview").subarray(stored * size, (stored + 1) * size);
  const rows = pixelsMoved(data, "rows", high), columns = pixelsMoved(data, "columns", wide);
  if (!rows && !columns) return bytes;
  return Uint8Array.from({ length: size }, (_, i) => {
    const y = Math.floor(i / wide), x = i % wide;
    return bytes[(rows ? rows[y] : y) * wide + (columns ? columns[x] : x)];
  });
}

// The stored pixel of each pixel along a side; null if they are the same.
function pixelsMoved(data, side, pixels) {
  const { n } = data[side], { at } = data.view[side], stored = data.diagonalPlaces(side);
  if (at.every((element, place) => stored[element] === place)) return null;
  return Uint32Array.from({ length: pixels }, (_, pixel) => {
    const element = at[Math.floor((pixel + 0.5) * n / pixels)];
    return Math.floor(stored[element] * pixels / n);
  });
}
