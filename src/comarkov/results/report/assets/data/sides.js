// One side of the matrix: the names and facts of its elements, and its tree.
// An element is known by its place in the drawing order of the fit, which is how cells are stored.

function readSide(name, sections, tree) {
  const facts = about[`${name}s`];
  const [header, ...lines] = readCsv(visible(textOf(sections.get(`${name}s.csv`))));
  const from = varints(sections.get(`${name} order`), lines.length); // place in the data
  const field = (title) => {
    const column = header.indexOf(title);
    return Array.from(from, (place) => lines[place][column]);
  };
  return {
    ...facts,
    n: lines.length,
    from,
    names: field("name"),
    label: Int32Array.from(field("cluster"), (cluster) => (cluster === "" ? -1 : +cluster)),
    confidence: field("confidence"),
    rank: field("rank"),
    typicality: sections.get(`${name} typicality`),
    leaf: tree ? varints(sections.get(`${name} leaves`), lines.length) : null, // plus 1; 0 is in none
    tree: tree ? new Tree(tree) : null,
  };
}

// All elements of a side, the most typical first.
function byTypicality({ n, typicality, rank }) {
  const order = Int32Array.from({ length: n }, (_, element) => element);
  const rankOf = Int32Array.from(rank, (text) => +text || n + 1);
  return order.sort((a, b) => typicality[a] - typicality[b] || rankOf[a] - rankOf[b]);
}
