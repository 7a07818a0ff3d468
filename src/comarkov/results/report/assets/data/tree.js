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

  // The nodes of k clusters by their numbers: those of the fit, else by falling mass.
  nodesAt(k) {
    return k === this.fitted.length ? this.fitted
      : this.heaviest.filter((node) => this.isAt(node, k));
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

  // The numbers of clusters in the order in which they are drawn.
  drawn(nodes) {
    return [...nodes.keys()].sort((a, b) => this.spans[nodes[a]].start - this.spans[nodes[b]].start);
  }

  // The bits lost up to a node's merge, on both sides together; 0 for a leaf.
  height(node) { return node < this.leaves ? 0 : this.heights[node - this.leaves]; }

  // The bits lost up to level k.
  heightAt(k) { return k < this.leaves ? this.heights[this.leaves - k - 1] : 0; }

  // I(X̄;Y): what these clusters keep of the other side's elements, in bits.
  information(nodes) { return nodes.reduce((sum, node) => sum + this.bits[node], 0); }
}
