// The merges of the clusters of a side, each at the bits lost so far.

const LEAF = 22; // pixels

// The tips of a dendrogram, which are the finer of the fit's clusters and those that are shown, and
// the merges of them: each node with its height above `base`, its children and its line.
function dendrogramOf(tree, k, base) {
  const nodes = new Map();
  const tips = [...tree.nodesAt(k)].sort((a, b) => tree.spans[a].start - tree.spans[b].start);
  tips.forEach((node, line) => nodes.set(node, { node, height: tree.height(node) - base, line: line + 0.5 }));
  tree.merges.slice(tree.leaves - k).forEach((children, i) => {
    const node = tree.leaves + tree.leaves - k + i, [first, second] = children.map((each) => nodes.get(each));
    const height = tree.height(node) - base;
    nodes.set(node, { node, height, children: [first, second], line: (first.line + second.line) / 2 });
  });
  return [...nodes.values()];
}

// The height from which bits are counted: that of the fit, or of the leaves if finer ones are shown.
function baseHeight(data) {
  const clustered = SIDES.filter((side) => data[side].tree);
  if (clustered.some((side) => data.level[side] > data.fitLevel[side])) return 0;
  return largest(clustered, (side) => data[side].tree.heightAt(data.fitLevel[side]));
}

function drawDendrogram(box, data, side) {
  const { tree } = data[side], base = baseHeight(data), k = Math.max(data.level[side], data.fitLevel[side]);
  const most = largest(SIDES, (each) => (data[each].tree?.heightAt(1) ?? 0) - base);
  const width = Math.max(280, box.clientWidth), room = Math.min(260, width * 0.5); // for titles
  const top = 6, bottom = top + LEAF * k;
  const axis = Axis.upTo(most || 1, [width - room, 14]), ticks = axis.ticks(5);
  const nodes = dendrogramOf(tree, k, base), shown = tree.nodesAt(data.level[side]);
  const x = (node) => axis.at(Math.max(0, node.height)), y = (node) => top + LEAF * node.line;
  const fork = (node) => {
    const [first, second] = node.children, isMade = !(node.node >= 2 * tree.leaves - data.level[side]);
    return svg("path", { d: `M${x(first)},${y(first)}H${x(node)}V${y(second)}H${x(second)}`,
      class: isMade ? "made" : "open" }, hint(`${bitsText(node.height)} bits lost`));
  };
  const stem = (node) => svg("path", { d: `M${axis.start},${y(node)}H${x(node)}`, class: "open" });
  const grid = (value) => svg("line", { x1: axis.at(value), x2: axis.at(value), y1: top, y2: bottom });
  const name = { class: "axis-name", x: (axis.start + axis.end) / 2, y: bottom + 36 };
  const tips = nodes.filter((node) => !node.children);
  box.replaceChildren(drawing(width, bottom + 40, {},
    svg("g", { class: "grid" }, ...ticks.map(grid)),
    svg("g", { class: "stems" }, ...tips.filter((node) => x(node) !== axis.start).map(stem)),
    svg("g", { class: "forks" }, ...nodes.filter((node) => node.children).map(fork)),
    ...tips.map((node) => tipText(data, side, node, moved(axis.start + 8, y(node)), room - 36)),
    ...nodes.filter((node) => node.children && shown.includes(node.node))
      .map((node) => hereMark(shown.indexOf(node.node), moved(x(node), y(node)))),
    axis.drawBelow(bottom, ticks, axis.tickText(5)),
    svg("text", name, "bits lost")));
}

// The number of a cluster that is shown, and its title; a part of such a cluster has no number.
function tipText(data, side, { node }, transform, width) {
  const cluster = data.view.nodes[side]?.indexOf(node) ?? -1, pen = measuringPen();
  const title = data.titleOfNode(side, node);
  return svg("g", { transform },
    svg("text", { class: "number", dy: "0.35em" }, cluster < 0 ? "" : String(cluster)),
    svg("text", { x: 22, dy: "0.35em" }, hint(title), clipped(pen, `\u2068${title}\u2069`, width)));
}

// A dot with the number of a cluster that merges others.
function hereMark(cluster, transform) {
  return svg("g", { transform }, svg("circle", { r: 9, class: "here" }),
    svg("text", { class: "here-number", dy: "0.35em" }, String(cluster)));
}
