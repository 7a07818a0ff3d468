// The packed data, unpacked: names, clusters, cells, and the co-clustering at each β.
// An element is known by its place in the order of the fit, which is how cells are stored.

// Text with its directional controls spelt out: from inside a name they turn what follows.
const visible = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g,
  (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`);

const about = JSON.parse(document.getElementById("about").textContent,
  (key, value) => (typeof value === "string" ? visible(value) : value));

async function unpack() {
  const letters = atob(document.getElementById("packed").textContent);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const all = new Uint8Array(await new Response(stream).arrayBuffer());
  const sections = new Map();
  let at = 0;
  for (const [name, length] of about.layout) {
    sections.set(name, all.subarray(at, at + length));
    at += length;
  }
  return sections;
}

// Numbers of seven bits a byte, the lowest first; the eighth bit tells that more follow.
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

function readSide(facts, table, order) {
  const lines = d3.csvParseRows(visible(new TextDecoder().decode(table))).slice(1);
  const places = varints(order, lines.length);
  const side = {
    ...facts,
    n: lines.length,
    from: places, // the place in the data of each element
    names: new Array(lines.length),
    lower: null, // made for the first search
    label: new Int32Array(lines.length),
    confidence: new Array(lines.length),
    rank: new Array(lines.length),
  };
  places.forEach((place, i) => {
    const [name, cluster, confidence, rank] = lines[place];
    side.names[i] = name;
    side.label[i] = cluster === "" ? -1 : +cluster;
    side.confidence[i] = confidence;
    side.rank[i] = rank;
  });
  return side;
}

function readCells(sections, rows) {
  const counts = varints(sections.get("counts"), rows);
  const starts = new Uint32Array(rows + 1);
  for (let i = 0; i < rows; i++) starts[i + 1] = starts[i] + counts[i];
  const columns = varints(sections.get("gaps"), about.cells);
  for (let i = 0; i < rows; i++) {
    for (let e = starts[i] + 1; e < starts[i + 1]; e++) columns[e] += columns[e - 1] + 1;
  }
  const codes = varints(sections.get("codes"), about.cells);
  const top = d3.max(about.values) || 1; // sums are of shares of it, which cannot overflow
  const levels = Float32Array.from(about.values, (value) => value / top);
  return { starts, columns, codes, levels, top };
}

// Where elements are drawn: by cluster, those in none last, else as in the fit.
function arrange(side, label) {
  const number = (i) => (label[i] < 0 ? Infinity : label[i]);
  const at = Uint32Array.from(label.keys());
  if (side.clusters && label !== side.label) at.sort((i, j) => number(i) - number(j) || i - j);
  const place = new Uint32Array(at.length);
  at.forEach((element, p) => (place[element] = p));
  const bands = []; // cluster, first place, place after the last
  for (let p = 0; side.clusters && p < at.length; p++) {
    const cluster = label[at[p]];
    const last = bands[bands.length - 1];
    if (last && last.cluster === cluster) last.end = p + 1;
    else bands.push({ cluster, start: p, end: p + 1 });
  }
  return { at, place, label, bands };
}

function readView(sections, facts, i, rows, columns) {
  const labels = (name, side) => {
    if (facts.fit) return side.label;
    const inData = varints(sections.get(`${name} labels ${i}`), side.n);
    return side.clusters ? Int32Array.from(side.from, (place) => inData[place] - 1) : side.label;
  };
  const bytes = sections.get(`blocks ${i}`);
  const numbers = new Float32Array(bytes.slice().buffer);
  const size = facts.shape[0] * facts.shape[1];
  return {
    ...facts,
    rows: arrange(rows, labels("row", rows)),
    columns: arrange(columns, labels("column", columns)),
    share: numbers.subarray(0, size),
    expected: numbers.subarray(size),
  };
}

function readAll(sections) {
  const rows = readSide(about.rows, sections.get("rows.csv"), sections.get("row order"));
  const columns = readSide(
    about.columns, sections.get("columns.csv"), sections.get("column order"));
  const made = new Map();
  const fit = about.views.findIndex((facts) => facts.fit);
  const view = (i) => {
    if (!made.has(i)) made.set(i, readView(sections, about.views[i], i, rows, columns));
    return made.get(i);
  };
  const overview = (i) => { // the picture of all cells at a β, that of the fit is the first
    const [height, width] = about.overview;
    const which = i === fit ? 0 : i < fit ? i + 1 : i;
    const from = which * height * width;
    return sections.get("overview").subarray(from, from + height * width);
  };
  return { rows, columns, cells: readCells(sections, rows.n), view, overview, fit, sections };
}
