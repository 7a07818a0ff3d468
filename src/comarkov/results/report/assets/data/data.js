// The data of the page: names, clusters, cells, and the co-clustering at each β.
// An element is known by its place in the order of the fit, which is how cells are stored.

function readSide(facts, table, order) {
  const lines = readCsv(visible(new TextDecoder().decode(table))).slice(1);
  const from = varints(order, lines.length); // the place in the data of each element
  const field = (i) => Array.from(from, (place) => lines[place][i]);
  return {
    ...facts,
    n: lines.length,
    from,
    names: field(0),
    label: Int32Array.from(field(1), (cluster) => (cluster === "" ? -1 : +cluster)),
    confidence: field(2),
    rank: field(3),
  };
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
  const top = largest(about.values, (value) => value) || 1;
  const levels = Float32Array.from(about.values, (value) => value / top); // sums cannot overflow
  return { starts, columns, codes, levels, top };
}

// Where elements are drawn: by cluster, those in none last, otherwise as in the fit.
function arrange(side, label) {
  const rankOf = (i) => (label[i] < 0 ? Infinity : label[i]);
  const at = Uint32Array.from(label.keys());
  if (side.clusters && label !== side.label) at.sort((i, j) => rankOf(i) - rankOf(j) || i - j);
  const place = new Uint32Array(at.length);
  at.forEach((element, p) => (place[element] = p));
  return { at, place, label, bands: side.clusters ? bandsOf(at, label) : [] };
}

// Where each cluster is drawn: from its first place to the one after its last.
function bandsOf(at, label) {
  const bands = [];
  at.forEach((element, p) => {
    const last = bands[bands.length - 1];
    if (last?.cluster === label[element]) last.end = p + 1;
    else bands.push({ cluster: label[element], start: p, end: p + 1 });
  });
  return bands;
}

class ReportData {
  constructor(sections) {
    const side = (name) => readSide(
      about[`${name}s`], sections.get(`${name}s.csv`), sections.get(`${name} order`));
    this.sections = sections;
    this.rows = side("row");
    this.columns = side("column");
    this.cells = readCells(sections, this.rows.n);
    this.fit = about.views.findIndex((facts) => facts.fit);
    this.shown = this.fit; // which of the views the pictures show
    this.views = new Map();
    this.titles = new EditedTitles(about.digest);
    this.profiles = new Profiles(this);
    this.classes = new Classes(this);
  }

  // The clusters on screen, each with its members, the most typical first.
  clusters(side) {
    const facts = this[side], other = this[otherSide(side)], { label } = this.viewAt(this.fit)[side];
    const elements = Int32Array.from(label.keys());
    return facts.cards.map((card, cluster) => ({
      cluster,
      node: cluster,
      ...card,
      title: this.titleOf(side, cluster),
      features: card.features.map(([name, , lift]) => ({ element: other.names.indexOf(name), name, lift })),
      members: elements.filter((element) => label[element] === cluster),
    }));
  }

  titleOf(side, cluster) {
    return this.titles.of(side, cluster) ?? this[side].cards[cluster].title;
  }

  isFit() { return this.view.fit; }

  get view() { return this.viewAt(this.shown); }

  viewAt(i) {
    if (!this.views.has(i)) this.views.set(i, this.readView(i));
    return this.views.get(i);
  }

  readView(i) {
    const facts = about.views[i], size = facts.shape[0] * facts.shape[1];
    const blocks = new Float32Array(this.sections.get(`blocks ${i}`).slice().buffer);
    return {
      ...facts,
      rows: arrange(this.rows, this.labels("row", this.rows, i)),
      columns: arrange(this.columns, this.labels("column", this.columns, i)),
      share: blocks.subarray(0, size),
      expected: blocks.subarray(size),
    };
  }

  labels(name, side, i) {
    if (i === this.fit || !side.clusters) return side.label;
    const inData = varints(this.sections.get(`${name} labels ${i}`), side.n);
    return Int32Array.from(side.from, (place) => inData[place] - 1);
  }

  // The picture of all cells in the order that is shown. That of the fit is stored first.
  get overview() {
    const [height, width] = about.overview, size = height * width;
    const stored = this.shown === this.fit ? 0 : this.shown + (this.shown < this.fit ? 1 : 0);
    return this.sections.get("overview").subarray(stored * size, (stored + 1) * size);
  }

  // The value of a cell; null if it may be one of those that were left out.
  value(row, column) {
    const { starts, columns, codes } = this.cells;
    for (let e = starts[row]; e < starts[row + 1]; e++) {
      if (columns[e] === column) return about.values[codes[e]];
    }
    return about.cells < about.all_cells ? null : 0;
  }
}
