// The tree of one side: its leaves, its merges, and the clusters at each level.
// Node i is a leaf, or the (i - leaves)-th merge. Level k is what is left after leaves - k merges.

class Tree {
  constructor(facts) {
    Object.assign(this, facts);
    this.leaves = this.order.length;
    const spans = new Array(this.leaves); // the places of each node's leaves as they are drawn
    this.order.forEach((leaf, place) => (spans[leaf] = { start: place, end: place + 1 }));
    this.mergedAt = new Int32Array(2 * this.leaves - 1).fill(this.leaves); // by which merge
    this.merges.forEach(([first, second], i) => {
      const [one, other] = [spans[first], spans[second]];
      spans.push({ start: Math.min(one.start, other.start), end: Math.max(one.end, other.end) });
      this.mergedAt[first] = this.mergedAt[second] = i;
    });
    this.spans = spans;
  }

  // Is a node one of the k clusters?
  isAt(node, k) {
    const made = this.leaves - k; // merges
    return node < this.leaves + made && this.mergedAt[node] >= made;
  }

  // The nodes of k clusters in the order in which they are drawn, which is how clusters are numbered.
  nodesAt(k) {
    return [...this.spans.keys()].filter((node) => this.isAt(node, k))
      .sort((a, b) => this.spans[a].start - this.spans[b].start);
  }

  // The cluster of each leaf.
  clusterOfLeaves(nodes) {
    const cluster = new Int32Array(this.leaves);
    nodes.forEach((node, number) => {
      const { start, end } = this.spans[node];
      for (let place = start; place < end; place++) cluster[this.order[place]] = number;
    });
    return cluster;
  }

  // The bits lost up to a node's merge, on both sides together; 0 for a leaf.
  height(node) { return node < this.leaves ? 0 : this.heights[node - this.leaves]; }

  // The bits lost up to level k.
  heightAt(k) { return k < this.leaves ? this.heights[this.leaves - k - 1] : 0; }

  // I(X̄;Y): what these clusters keep of the other side's elements, in bits.
  information(nodes) { return nodes.reduce((sum, node) => sum + this.bits[node], 0); }
}

// Where elements are drawn.
// By cluster, and in a cluster as in the fit; those in no cluster last.
function arrange(side, label, clusters) {
  const at = side.clusters ? elementsByCluster(label, clusters)
    : Uint32Array.from({ length: side.n }, (_, element) => element);
  return { at, place: inverse(at), label, bands: side.clusters ? bandsOf(at, label) : [] };
}

function elementsByCluster(label, none) {
  const starts = new Uint32Array(none + 2);
  const bucket = Uint32Array.from(label, (cluster) => (cluster < 0 ? none : cluster));
  for (const place of bucket) starts[place + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  const at = new Uint32Array(label.length);
  bucket.forEach((place, element) => (at[starts[place]++] = element));
  return at;
}

function inverse(order) {
  const place = new Uint32Array(order.length);
  order.forEach((element, p) => (place[element] = p));
  return place;
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

// --- sums of leaf blocks at a level, and what they keep ---

// The masses of leaf blocks, and those of the leaves of each side.
function readLeafBlocks(bytes, rows, columns) {
  const numbers = new Float32Array(bytes.slice().buffer), size = rows * columns;
  return {
    shape: [rows, columns],
    share: numbers.subarray(0, size),
    rows: numbers.subarray(size, size + rows),
    columns: numbers.subarray(size + rows),
  };
}

// The blocks of clusters: `cluster` gives that of each row leaf and of each column leaf.
function mergedBlocks(leaves, cluster, [rows, columns]) {
  const share = new Float64Array(rows * columns), expected = new Float64Array(rows * columns);
  const [high, wide] = leaves.shape;
  for (let i = 0, from = 0; i < high; i++) {
    const offset = cluster.rows[i] * columns;
    for (let j = 0; j < wide; j++, from++) share[offset + cluster.columns[j]] += leaves.share[from];
  }
  const rowMass = summed(leaves.rows, cluster.rows, rows);
  const columnMass = summed(leaves.columns, cluster.columns, columns);
  for (let i = 0; i < expected.length; i++) {
    expected[i] = rowMass[Math.floor(i / columns)] * columnMass[i % columns];
  }
  return { share, expected };
}

function summed(masses, cluster, count) {
  const sums = new Float64Array(count);
  masses.forEach((mass, i) => (sums[cluster[i]] += mass));
  return sums;
}

// I(X̄;Ȳ) in bits; exactly 0 where a side has one cluster.
function blockInformation({ share, expected, shape }) {
  if (Math.min(...shape) === 1) return 0;
  return share.reduce((bits, mass, i) =>
    bits + (mass > 0 && expected[i] > 0 ? mass * Math.log2(mass / expected[i]) : 0), 0);
}

// L_β in bits, from I(X;Y), I(X;Ȳ), I(X̄;Y) and I(X̄;Ȳ).
function costOf(beta, { whole, columns, rows, blocks }) {
  const coupling = 2 * beta - 1;
  return Math.max(0, 2 * beta * whole - coupling * (columns + rows) - 2 * (1 - beta) * blocks);
}
