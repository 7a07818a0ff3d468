// The packed data: decompressed, cut into sections, and read as numbers, names and cells.

// The lines of a CSV text as lists of fields, quoted as in RFC 4180; a line ends with a line feed.
function readCsv(text) {
  const next = /(?:"([^"]*(?:""[^"]*)*)"|([^,\n]*))(,|\n|$)/y;
  const lines = [];
  let line = [];
  while (next.lastIndex < text.length) {
    const [, quoted, plain, end] = next.exec(text);
    line.push(plain ?? quoted.replaceAll('""', '"'));
    if (end !== ",") {
      lines.push(line);
      line = [];
    }
  }
  return lines;
}

const textOf = (bytes) => new TextDecoder().decode(bytes);

async function unpack() {
  const letters = atob(byId("packed").textContent);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return cut(new Uint8Array(await new Response(stream).arrayBuffer()));
}

function cut(bytes) {
  const sections = new Map();
  let at = 0;
  for (const [name, length] of about.layout) {
    sections.set(name, bytes.subarray(at, at + length));
    at += length;
  }
  return sections;
}

// Numbers of seven bits a byte, the lowest first; the eighth bit means that more follow.
function varints(bytes, count) {
  const numbers = new Uint32Array(count);
  for (let i = 0, at = 0; i < count; i++) {
    let byte = bytes[at++], number = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++];
      number |= (byte & 127) << shift;
    }
    numbers[i] = number;
  }
  return numbers;
}

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
    label: Int32Array.from(field("cluster"), (number) => Math.max(-1, number - 1)),
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
