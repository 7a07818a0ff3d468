// The data of the page: names, trees, cells, and what is shown of them at a level.

const FIRST = 3; // entries of a profile

class ReportData {
  constructor(sections) {
    this.sections = sections;
    const trees = JSON.parse(textOf(sections.get("trees")), visibleText);
    this.rows = readSide("row", sections, trees.rows);
    this.columns = readSide("column", sections, trees.columns);
    this.cells = readCells(sections, this.rows.n);
    this.fitLevel = { rows: this.rows.clusters, columns: this.columns.clusters };
    this.level = this.fitLevel;
    const [rows, columns] = SIDES.map((side) => this[side].tree?.leaves ?? this[side].shown.length);
    this.leafBlocks = readLeafBlocks(sections.get("leaf blocks"), rows, columns);
    this.titles = new EditedTitles(about.digest);
    this.classes = new Classes(this);
    this.renew();
  }

  // Show so many clusters; a side that is not named, or not clustered, stays as it is.
  setLevel(wanted) {
    const level = { ...this.level };
    for (const side of SIDES) {
      const { tree } = this[side];
      if (tree && wanted[side]) level[side] = Math.max(1, Math.min(tree.leaves, wanted[side]));
    }
    this.level = level;
    this.renew();
    this.onLevel?.();
  }

  get isFitLevel() { return SIDES.every((side) => this.level[side] === this.fitLevel[side]); }

  renew() {
    this.view = this.viewAtLevel();
    this.groups = new Map();
  }

  viewAtLevel() {
    const { nodes, cluster, ...view } = this.blocksAt(this.level), arranged = {};
    for (const side of SIDES) {
      arranged[side] = arrange(this[side], this.labelsAt(side, cluster[side]), nodes[side]?.length ?? 0);
    }
    const figures = this.isFitLevel ? about.fit : this.figuresOf(nodes, view);
    return { ...figures, ...arranged, ...view, nodes };
  }

  // The nodes that are clusters at a level, the cluster of each leaf, and the blocks.
  blocksAt(level) {
    const nodes = {}, cluster = {};
    for (const side of SIDES) {
      const { tree, shown } = this[side];
      nodes[side] = tree?.nodesAt(level[side]) ?? null;
      cluster[side] = tree ? tree.clusterOfLeaves(nodes[side]) : [...shown.keys()];
    }
    const shape = SIDES.map((side) => nodes[side]?.length ?? this[side].shown.length);
    return { nodes, cluster, shape, ...mergedBlocks(this.leafBlocks, cluster, shape) };
  }

  // The cost if the level that is shown were changed so.
  costAt(change) {
    const { nodes, ...blocks } = this.blocksAt({ ...this.level, ...change });
    return this.figuresOf(nodes, blocks).cost;
  }

  // Away from the fit nothing is known of how sure elements are, so that none is rejected.
  labelsAt(side, cluster) {
    const { leaf, label } = this[side];
    if (!leaf || this.isFitLevel) return label;
    return Int32Array.from(leaf, (next) => (next ? cluster[next - 1] : -1));
  }

  figuresOf(nodes, blocks) {
    const { beta } = about.fit, whole = about.information;
    const [rows, columns] = SIDES.map((side) =>
      (nodes[side] ? this[side].tree.information(nodes[side]) : whole));
    const areBoth = nodes.rows && nodes.columns;
    const bits = areBoth ? blockInformation(blocks) : Math.min(rows, columns);
    const kept = whole < 1e-12 ? 1 : Math.min(1, bits / whole);
    const cost = costOf(beta, { whole, columns, rows, blocks: bits });
    return { beta, kept, cost };
  }

  // The colour of a cluster: that of the cluster of the fit which it is in, or of its first one.
  // Parts of one cluster differ in lightness. No row cluster has the colour of a column cluster.
  clusterColour(side, cluster) {
    const { tree } = this[side], node = this.view.nodes[side]?.[cluster];
    if (node === undefined || !tree) return categoryColour(cluster + (side === "rows" ? 0 : this.rows.clusters));
    const drawn = tree.nodesAt(this[side].clusters).map((each) => tree.spans[each]);
    const { start } = tree.spans[node], place = drawn.findLastIndex((span) => span.start <= start);
    const parts = this.view.nodes[side].filter((each) =>
      tree.spans[each].start >= drawn[place].start && tree.spans[each].start < start);
    return categoryColour(place + (side === "rows" ? 0 : this.rows.clusters), parts.length);
  }

  // The clusters of a side at the level that is shown, by number.
  clusters(side) {
    if (!this.groups.has(side)) this.groups.set(side, this.readClusters(side));
    return this.groups.get(side);
  }

  readClusters(side) {
    const { tree } = this[side];
    if (!tree) return [];
    const other = this[otherSide(side)];
    const nodes = tree.nodesAt(this.level[side]), members = this.members(side, nodes);
    const data = this;
    return nodes.map((node, cluster) => ({
      cluster,
      node,
      get title() { return data.titleOfNode(side, node); }, // which the reader may change
      size: members[cluster].length,
      share: tree.shares[node],
      features: tree.features[node].map(([element, lift, p, name, share, overall]) =>
        ({ element, name: name ?? other.names[element], lift, p, share, overall })),
      members: members[cluster],
    }));
  }

  // The elements of each cluster, the most typical first.
  members(side, nodes) {
    const facts = this[side], label = this.labelsAt(side, facts.tree.clusterOfLeaves(nodes));
    facts.typical ??= byTypicality(facts);
    const lists = nodes.map(() => []);
    facts.typical.forEach((element) => lists[label[element]]?.push(element));
    return lists.map((list) => Int32Array.from(list));
  }

  titleOf(side, cluster) { return this.titleOfNode(side, this.view.nodes[side][cluster]); }

  titleOfNode(side, node) {
    return this.titles.of(side, node) ?? this[side].tree.titles[node];
  }

  // The value of a cell; null if it may be one of those that were left out.
  value(row, column) {
    const { starts, columns, codes } = this.cells;
    for (let e = starts[row]; e < starts[row + 1]; e++) {
      if (columns[e] === column) return about.values[codes[e]];
    }
    return about.cells < about.all_cells ? null : 0;
  }

  // The sums of all rows, of all columns, and of all.
  get totals() {
    if (this.sums) return this.sums;
    const { starts, columns, codes } = this.cells;
    const sums = { rows: new Float64Array(this.rows.n), columns: new Float64Array(this.columns.n), all: 0 };
    for (let row = 0, e = 0; row < this.rows.n; row++) {
      for (; e < starts[row + 1]; e++) {
        const value = about.values[codes[e]];
        sums.rows[row] += value;
        sums.columns[columns[e]] += value;
        sums.all += value;
      }
    }
    return this.sums = sums;
  }

  // All entries of a row or of a column: { at, value }, and their lift.
  entries(side, element) {
    const { starts, columns, codes } = this.cells, { totals } = this, entries = [];
    const isRow = side === "rows", [from, to] = isRow ? [element, element + 1] : [0, this.rows.n];
    for (let row = from, e = starts[from]; row < to; row++) {
      for (; e < starts[row + 1]; e++) {
        if (!isRow && columns[e] !== element) continue;
        const value = about.values[codes[e]];
        const lift = (value / totals.rows[row] / totals.columns[columns[e]]) * totals.all;
        entries.push({ at: isRow ? columns[e] : row, value, lift });
      }
    }
    return entries;
  }

  // What is special about a row or a column, where the page has all entries:
  // "mostly tea (×3.1), rum (×2) · row total 120 · 5 columns", with names isolated.
  profile(side, element) {
    if (about.cells < about.all_cells) return [];
    const entries = this.entries(side, element), other = otherSide(side);
    const bits = ({ value, lift }) => value * Math.log2(lift);
    const first = entries.filter(({ lift }) => lift > 1).sort((a, b) => bits(b) - bits(a)).slice(0, FIRST);
    const names = first.flatMap(({ at, lift }, i) => [i ? ", " : "mostly ",
      isolated(this[other].names[at]), isInformative(lift) ? ` (${liftText(lift)})` : ""]);
    const across = entries.length === 1 ? other.slice(0, -1) : other;
    return [...names, `${names.length ? " · " : ""}${side.slice(0, -1)} total `
      + `${entryText(this.totals[side][element])} · ${whole(entries.length)} ${across}`];
  }
}
