// The cells of the matrix, row by row in the drawing order of the fit.

function readCells(sections, rows) {
  const counts = varints(sections.get("counts"), rows);
  const starts = new Uint32Array(rows + 1);
  for (let i = 0; i < rows; i++) starts[i + 1] = starts[i] + counts[i];
  const columns = varints(sections.get("gaps"), about.cells);
  for (let i = 0; i < rows; i++) {
    for (let e = starts[i] + 1; e < starts[i + 1]; e++) columns[e] += columns[e - 1] + 1;
  }
  const codes = varints(sections.get("codes"), about.cells);
  const top = largest(about.values, (value) => value) || 1;
  const levels = Float32Array.from(about.values, (value) => value / top); // sums cannot overflow
  return { starts, columns, codes, levels, top };
}
