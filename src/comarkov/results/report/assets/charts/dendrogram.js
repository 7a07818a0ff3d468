// The merges of the clusters of a side, each at the bits lost so far.

const LEAF = 22; // pixels

// The clusters, then the merges: each with its height, its children and its line.
function treeOf({ linkage, leaves }) {
  const nodes = leaves.map((title, cluster) => ({ cluster, title, height: 0, leaves: [cluster] }));
  for (const [first, second, height] of linkage) {
    const children = [nodes[first], nodes[second]];
    nodes.push({ height, children, leaves: children.flatMap((child) => child.leaves) });
  }
  nodes[nodes.length - 1].leaves.forEach((cluster, line) => (nodes[cluster].line = line + 0.5));
  for (const node of nodes) { // children come before their parents
    if (node.children) node.line = (node.children[0].line + node.children[1].line) / 2;
  }
  return nodes;
}

function drawDendrogram(box, side, most) {
  const width = Math.max(280, box.clientWidth);
  const room = Math.min(230, width * 0.45); // for names
  const top = 6, bottom = top + LEAF * side.leaves.length;
  const axis = Axis.upTo(most || 1, [width - room, 14]), ticks = axis.ticks(5);
  const nodes = treeOf(side);
  const x = (node) => axis.at(node.height), y = (node) => top + LEAF * node.line;
  const fork = (node) => {
    const [first, second] = node.children;
    return svg("path", { d: `M${x(first)},${y(first)}H${x(node)}V${y(second)}H${x(second)}` },
      hint(`${bitsText(node.height)} bits lost`));
  };
  const grid = (value) =>
    svg("line", { x1: axis.at(value), x2: axis.at(value), y1: top, y2: bottom });
  const name = { class: "axis-name", x: (axis.start + axis.end) / 2, y: bottom + 36 };
  box.replaceChildren(svg("svg", { width, height: bottom + 40 },
    svg("g", { class: "grid" }, ...ticks.map(grid)),
    svg("g", { class: "forks" }, ...nodes.filter((node) => node.children).map(fork)),
    ...nodes.filter((node) => node.title).map((node) =>
      leafText(node, moved(axis.start + 8, y(node)), room - 36)),
    axis.drawBelow(bottom, ticks, axis.tickText(5)),
    svg("text", name, "bits lost")));
}

function leafText({ cluster, title }, transform, width) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font(12);
  return svg("g", { transform },
    svg("text", { class: "number", dy: "0.35em" }, String(cluster)),
    svg("text", { x: 22, dy: "0.35em" }, hint(title), clipped(pen, `\u2068${title}\u2069`, width)));
}
