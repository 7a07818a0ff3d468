// The types as circles, and the tables between them as lines with the information they keep.

const TYPE = { radius: 44, letters: 14 };
const LETTER = 6.5; // pixels

// No cluster has the colour of one of another type.
const colourOf = (type, cluster) => categoryColour(about.types.slice(0, type)
  .reduce((count, { titles }) => count + titles.length, cluster));

function drawTypes(box) {
  const k = about.types.length, width = Math.min(box.clientWidth || 320, 420);
  const height = k < 3 ? 150 : Math.min(width, 300);
  const at = about.types.map((_, i) => {
    const [x, y] = onCircle(i, k);
    return { x: width / 2 + x * (width / 2 - TYPE.radius - 4), y: height / 2 + y * (height / 2 - TYPE.radius - 4) };
  });
  const words = about.relations.map(({ types, kept }) =>
    `${types.map((i) => about.types[i].name).join(" and ")}: ${percentText(kept)} kept`);
  box.replaceChildren(svg("svg", { width, height, role: "img", "aria-label": words.join("; ") },
    ...about.relations.map((relation) => typeLink(relation, at)),
    ...about.types.map((type, i) => typeCircle(type, at[i]))));
}

function typeLink({ types: [from, to], kept }, at) {
  const [a, b] = [at[from], at[to]], isLoop = from === to;
  const line = isLoop
    ? `M${a.x - 14},${a.y - 38}C${a.x - 40},${a.y - 90} ${a.x + 40},${a.y - 90} ${a.x + 14},${a.y - 38}`
    : `M${a.x},${a.y}L${b.x},${b.y}`;
  return svg("g", { class: "type-link" }, svg("path", { d: line, "stroke-width": 1.5 + 10 * kept }),
    svg("text", { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 + (isLoop ? -68 : 4) }, percentText(kept)));
}

function typeCircle({ name, elements, titles }, { x, y }) {
  const text = name.length > TYPE.letters ? `${name.slice(0, TYPE.letters - 1)}…` : name;
  return svg("g", { class: "type", transform: moved(x, y) }, hint(name),
    svg("circle", { r: TYPE.radius }), svg("text", { class: "node-number", y: -8 }, text),
    svg("text", { class: "node-stays", y: 9 }, countText(elements)),
    svg("text", { class: "node-stays", y: 24 }, `in ${titles.length}`));
}

// A network: nodes as dots coloured by group, at the places that the page brings, and their edges.
function drawNetwork(box) {
  const { nodes, edges, strengths, names } = about.network;
  const width = Math.min(box.clientWidth || 320, 1100), height = Math.round(Math.min(width, 640));
  const at = ([x, y]) => [14 + x * (width - 28), 14 + y * (height - 28)];
  const places = nodes.map(at);
  const lines = edges.map(([i, j], number) => {
    const [[x1, y1], [x2, y2]] = [places[i], places[j]], strong = Math.sqrt(strengths[number]);
    return svg("line", { x1, y1, x2, y2, "stroke-opacity": 0.08 + 0.4 * strong, "stroke-width": 0.6 + 1.8 * strong });
  });
  const near = nodes.map(() => new Set());
  edges.forEach(([i, j], number) => [i, j].forEach((node) => near[node].add(lines[number])));
  const dots = nodes.map(([, , group, size], i) => {
    const [cx, cy] = places[i];
    const dot = svg("circle", { cx, cy, r: 3 + 9 * Math.sqrt(size), fill: group < 0 ? colour("--muted") : colourOf(0, group) },
      hint(group < 0 ? names[i] : `${names[i]}: group ${group + 1}, ${about.types[0].titles[group]}`));
    const light = (isLit) => near[i].forEach((line) => line.classList.toggle("lit", isLit));
    dot.addEventListener("pointerenter", () => light(true));
    dot.addEventListener("pointerleave", () => light(false));
    dot.addEventListener("click", () => group >= 0 && showCard(0, group));
    return dot;
  });
  const labels = names.length > 60 ? about.network.hubs : names.map((_, i) => i);
  box.replaceChildren(svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The network, coloured by group" },
    svg("g", { class: "edges" }, ...lines), ...dots,
    ...labels.map((i) => svg("text", { x: insideOf(width, places[i][0], names[i]), y: places[i][1] - 8 }, names[i]))));
}

// The middle of a label, moved so that it does not pass the edge of a picture.
function insideOf(width, x, text) {
  const half = Math.min(LETTER * text.length, width) / 2;
  return Math.min(Math.max(x, half), width - half);
}

function showCard(type, cluster) {
  const card = byId(`card-${type}-${cluster}`);
  document.querySelectorAll(".card.lit").forEach((each) => each.classList.remove("lit"));
  card.classList.add("lit");
  card.scrollIntoView({ block: "center" });
  card.focus({ preventScroll: true });
}

// What the picture of blocks asks of the data, for one relation.
function relationData({ types, share, expected }) {
  const [rows, columns] = types.map((i) => about.types[i].titles);
  const view = {
    shape: [rows.length, columns.length],
    share: share.flat(),
    expected: expected.flat(),
  };
  const titleOf = (name, cluster) => (name === "rows" ? rows : columns)[cluster];
  const clusterColour = (name, cluster) => colourOf(types[name === "rows" ? 0 : 1], cluster);
  return { rows: { clusters: rows.length }, columns: { clusters: columns.length }, view, titleOf, clusterColour };
}

function relationBlocks(relation, number) {
  const blocks = new Blocks(byId(`blocks-${number}`), relationData(relation));
  blocks.onStep = (lines) => byId(`where-${number}`).replaceChildren(...joined(lines));
  blocks.onChoose = ({ rows }) => showCard(relation.types[0], rows);
  return blocks;
}

const pictures = about.relations.map(relationBlocks);

function draw() {
  if (byId("types")) drawTypes(byId("types"));
  if (about.network) drawNetwork(byId("network"));
  pictures.forEach((blocks, number) => {
    blocks.draw();
    blocks.lift.drawLegend(byId(`legend-${number}`));
  });
}

connectSaving((id, kind) => {
  const blocks = pictures[id.split("-")[1]];
  if (blocks) savePicture(id, kind, blocks.size, (pen) => blocks.drawWith(pen));
  else saveDrawing(id, kind, byId(id).firstElementChild);
});
begin(draw, colourOf);
