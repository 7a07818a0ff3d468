// Charts by D3: dendrograms, costs of pairs, and curves over β.

const LEAF = 22; // pixels

function dendrogram(element, side, most) {
  const { linkage, leaves } = side, k = leaves.length;
  const nodes = leaves.map((names, i) => ({ i, height: 0, size: 1 }));
  for (const [first, second, height] of linkage) {
    nodes.push({ height, children: [nodes[first], nodes[second]] });
  }
  const root = d3.hierarchy(nodes[nodes.length - 1]);
  const outer = Math.max(280, element.clientWidth);
  const margin = { left: 14, right: Math.min(230, outer * 0.45), top: 6, bottom: 40 };
  const height = k * LEAF + margin.top + margin.bottom;
  const x = d3.scaleLinear([most || 1, 0], [margin.left, outer - margin.right]).nice();
  d3.cluster().size([k * LEAF, 1]).separation(() => 1)(root);
  const y = (node) => margin.top + node.x;
  const at = (node) => x(node.data.height);
  const svg = d3.select(element).selectAll("svg").data([0]).join("svg")
    .attr("width", outer).attr("height", height);
  svg.selectAll("*").remove();
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = font(12);
  svg.append("g").attr("class", "grid").selectAll("line").data(x.ticks(5)).join("line")
    .attr("x1", x).attr("x2", x).attr("y1", margin.top).attr("y2", margin.top + k * LEAF);
  svg.append("g").attr("class", "forks").selectAll("path")
    .data(root.descendants().filter((node) => node.children)).join("path")
    .attr("d", (node) => {
      const [a, b] = node.children;
      return `M${at(a)},${y(a)}H${at(node)}V${y(b)}H${at(b)}`;
    })
    .append("title").text((node) => `${short(node.data.height)} bits lost`);
  const leaf = svg.append("g").selectAll("g").data(root.leaves()).join("g")
    .attr("transform", (node) => `translate(${x(0) + 8},${y(node)})`);
  leaf.append("text").attr("class", "number").attr("dy", "0.35em").text((node) => node.data.i);
  leaf.append("text").attr("x", 22).attr("dy", "0.35em").text((node) => {
    const names = leaves[node.data.i].map((name) => `\u2068${name}\u2069`); // set apart by marks of no width
    return clipped(ruler, names.join(", "), margin.right - 36);
  });
  svg.append("g").attr("transform", `translate(0,${margin.top + k * LEAF})`)
    .call(d3.axisBottom(x).ticks(5));
  svg.append("text").attr("class", "axis-name").attr("x", (margin.left + x(0)) / 2)
    .attr("y", height - 4).attr("text-anchor", "middle").text("bits lost");
}

function pairMatrix(element, side) {
  const k = side.clusters, size = Math.max(16, Math.min(46, (element.clientWidth - 40) / k));
  const cost = d3.scaleSqrt([0, d3.max(side.pairs, (pair) => pair[2]) || 1], [0, 1]).clamp(true);
  const scale = ramp(), pad = 26;
  const svg = d3.select(element).selectAll("svg").data([0]).join("svg")
    .attr("width", pad + k * size + 2).attr("height", pad + k * size + 2)
    .attr("role", "img").attr("aria-label", `Bits that merging each pair of ${side.kind} clusters costs`);
  svg.selectAll("*").remove();
  const cell = svg.selectAll("g").data(side.pairs).join("g")
    .attr("transform", ([a, b]) => `translate(${pad + a * size},${pad + b * size})`);
  cell.append("rect").attr("width", size - 1).attr("height", size - 1)
    .attr("fill", (pair) => scale(cost(pair[2])));
  cell.append("title").text(([a, b, bits]) => `${a} + ${b}: ${short(bits)} bits`);
  if (size >= 34) {
    cell.append("text").attr("x", size / 2).attr("y", size / 2).attr("dy", "0.35em")
      .attr("text-anchor", "middle").attr("class", "in-cell")
      .attr("fill", (pair) => (d3.lab(scale(cost(pair[2]))).l > 58 ? "#14171a" : "#ffffff"))
      .text((pair) => d3.format(".2~g")(pair[2]));
  }
  svg.append("g").selectAll("text").data(d3.range(k)).join("text").attr("class", "number")
    .attr("x", (a) => pad + (a + 0.5) * size).attr("y", 16).attr("text-anchor", "middle").text(String);
  svg.append("g").selectAll("text").data(d3.range(k)).join("text").attr("class", "number")
    .attr("x", 18).attr("y", (a) => pad + (a + 0.5) * size).attr("dy", "0.35em")
    .attr("text-anchor", "end").text(String);
}

// A curve over β with a dot at each step and a larger one at the step that is shown.
function curve(element, views, value, format, now, onPick) {
  const width = Math.max(260, element.clientWidth), height = 210;
  const margin = { left: 52, right: 14, top: 12, bottom: 40 };
  const x = d3.scaleLinear(d3.extent(views, (view) => view.beta), [margin.left, width - margin.right]);
  const y = d3.scaleLinear([0, d3.max(views, value) || 1], [height - margin.bottom, margin.top]).nice();
  const svg = d3.select(element).selectAll("svg").data([0]).join("svg")
    .attr("width", width).attr("height", height);
  svg.selectAll("*").remove();
  svg.append("g").attr("class", "grid").selectAll("line").data(y.ticks(4)).join("line")
    .attr("x1", margin.left).attr("x2", width - margin.right).attr("y1", y).attr("y2", y);
  svg.append("g").attr("transform", `translate(0,${height - margin.bottom})`)
    .call(d3.axisBottom(x).ticks(6));
  svg.append("g").attr("transform", `translate(${margin.left},0)`)
    .call(d3.axisLeft(y).ticks(4).tickFormat(format));
  svg.append("path").attr("class", "curve").attr("d",
    d3.line((view) => x(view.beta), (view) => y(value(view)))(views));
  svg.append("g").selectAll("circle").data(views).join("circle")
    .attr("cx", (view) => x(view.beta)).attr("cy", (view) => y(value(view)))
    .attr("r", (view, i) => (i === now ? 6 : 3.5)).attr("class", (view, i) => (i === now ? "now" : "dot"))
    .on("click", (event, view) => onPick(views.indexOf(view)))
    .append("title").text((view) => `β = ${short(view.beta)}: ${format(value(view))}`);
  svg.append("text").attr("class", "axis-name").attr("x", (margin.left + width) / 2)
    .attr("y", height - 4).attr("text-anchor", "middle").text("β");
}
