// The data of the page: names, trees, cells, and what is shown of them, at a level or at another β.

class ReportData {
  constructor(sections) {
    this.sections = sections;
    const trees = JSON.parse(textOf(sections.get("trees")), visibleText);
    this.rows = readSide("row", sections, trees.rows);
    this.columns = readSide("column", sections, trees.columns);
    this.cells = readCells(sections, this.rows.n);
    this.fit = about.views.findIndex((facts) => facts.is_fit);
    this.shown = this.fit; // which β is shown
    this.fitLevel = { rows: this.rows.clusters, columns: this.columns.clusters };
    this.level = this.fitLevel;
    const [rows, columns] = SIDES.map((side) => this[side].tree?.leaves ?? this[side].shown.length);
    this.leafBlocks = readLeafBlocks(sections.get("leaf blocks"), rows, columns);
    this.titles = new EditedTitles(about.digest);
    this.profiles = new Profiles(this);
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
    this.shown = this.fit;
    this.renew();
    this.onLevel?.();
  }

  // Show the co-clustering at another β; levels are known only of the fit.
  setBeta(i) {
    this.shown = i;
    if (i !== this.fit) this.level = this.fitLevel;
    this.renew();
    this.onLevel?.();
  }

  // Is what is shown the fit?
  isFit() { return this.view.is_fit; }

  get isFitLevel() { return SIDES.every((side) => this.level[side] === this.fitLevel[side]); }

  // Recompute what is shown.
  renew() {
    this.view = this.shown === this.fit ? this.viewAtLevel() : this.viewAtBeta();
    this.groups = new Map();
  }

  viewAtLevel() {
    const { nodes, cluster, ...view } = this.blocksAt(this.level), arranged = {};
    for (const side of SIDES) {
      arranged[side] = this.arranged(side, this.labelsAt(side, cluster[side]), nodes[side]);
    }
    const figures = this.isFitLevel ? about.views[this.fit] : this.figuresOf(nodes, view);
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

  arranged(side, label, nodes) {
    const facts = this[side];
    return arrange(facts, label, nodes ? facts.tree.drawn(nodes) : [...facts.shown.keys()]);
  }

  figuresOf(nodes, blocks) {
    const { beta } = about.views[this.fit], whole = about.information;
    const [rows, columns] = SIDES.map((side) =>
      (nodes[side] ? this[side].tree.information(nodes[side]) : whole));
    const areBoth = nodes.rows && nodes.columns;
    const bits = areBoth ? blockInformation(blocks) : Math.min(rows, columns);
    const kept = whole < 1e-12 ? 1 : Math.min(1, bits / whole);
    const cost = costOf(beta, { whole, columns, rows, blocks: bits });
    return { beta, is_fit: false, kept, cost };
  }

  viewAtBeta() {
    const i = this.shown, facts = about.views[i];
    const numbers = new Float32Array(this.sections.get(`blocks ${i}`).slice().buffer);
    const labels = { rows: this.labelsAtBeta("row", i), columns: this.labelsAtBeta("column", i) };
    const count = (side) => (this[side].clusters
      ? Math.max(this[side].clusters, 1 + largest(labels[side], (cluster) => cluster))
      : this[side].shown.length);
    const shape = SIDES.map(count), arranged = {};
    for (const side of SIDES) {
      arranged[side] = arrange(this[side], labels[side], this.clustersAtBeta(side, count(side)));
    }
    return { ...facts, ...arranged, shape, nodes: { rows: null, columns: null },
      share: numbers.subarray(0, numbers.length / 2), expected: numbers.subarray(numbers.length / 2) };
  }

  labelsAtBeta(name, i) {
    const side = this[`${name}s`];
    if (!side.clusters) return side.label;
    const inData = varints(this.sections.get(`${name} labels ${i}`), side.n);
    return Int32Array.from(side.from, (place) => inData[place] - 1);
  }

  // As those of the fit are drawn, whose numbers they have; others follow.
  clustersAtBeta(side, count) {
    const { tree, clusters } = this[side], all = Array.from({ length: count }, (_, cluster) => cluster);
    return tree ? [...tree.drawn(tree.nodesAt(clusters)), ...all.slice(clusters)] : all;
  }

  // The colour of a cluster: that of the cluster of the fit which it is in, or of its first one.
  // Parts of one cluster differ in lightness. No row cluster has the colour of a column cluster.
  clusterColour(side, cluster) {
    const { tree } = this[side], node = this.view.nodes[side]?.[cluster];
    if (node === undefined || !tree) return categoryColour(cluster + (side === "rows" ? 0 : this.rows.clusters));
    const drawn = tree.drawn(tree.fitted).map((each) => tree.spans[tree.fitted[each]]);
    const { start } = tree.spans[node], place = drawn.findLastIndex((span) => span.start <= start);
    const parts = this.view.nodes[side].filter((each) =>
      tree.spans[each].start >= drawn[place].start && tree.spans[each].start < start);
    return categoryColour(place + (side === "rows" ? 0 : this.rows.clusters), parts.length);
  }

  // The clusters of a side at the level that is shown, by number; at another β those of the fit.
  clusters(side) {
    if (!this.groups.has(side)) this.groups.set(side, this.readClusters(side));
    return this.groups.get(side);
  }

  readClusters(side) {
    const { tree, stability } = this[side];
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
      stability: this.isFitLevel ? stability[cluster] : null,
      features: tree.features[node].map(([element, lift]) =>
        ({ element, name: other.names[element], lift })),
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

  // What a cluster is called. At another β clusters have numbers, but no titles.
  titleOf(side, cluster) {
    const nodes = this.view.nodes[side];
    return nodes ? this.titleOfNode(side, nodes[cluster]) : `cluster ${cluster}`;
  }

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
}
