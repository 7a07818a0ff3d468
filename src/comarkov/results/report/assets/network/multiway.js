// Puts the page of several types together.

// What the picture of blocks asks of the data, for one relation.
function relationData({ types, share, expected }) {
  const [rows, columns] = types.map((i) => about.types[i]);
  const side = ({ titles, name }) => ({ clusters: titles.length, kind: name });
  const order = ({ titles }) => ({ clusters: titles.map((_, cluster) => cluster) });
  const view = {
    shape: [rows.titles.length, columns.titles.length],
    share: share.flat(),
    expected: expected.flat(),
    rows: order(rows),
    columns: order(columns),
    nodes: { rows: true, columns: true }, // clusters have titles
  };
  const titleOf = (name, cluster) => (name === "rows" ? rows : columns).titles[cluster];
  return { rows: side(rows), columns: side(columns), view, titleOf };
}

function relationBlocks(relation, number) {
  const blocks = new Blocks(byId(`blocks-${number}`), relationData(relation));
  blocks.onStep = (lines) => byId(`where-${number}`).replaceChildren(...joined(lines));
  blocks.onChoose = ({ rows }) => {
    const card = byId(`card-${relation.types[0]}-${rows}`);
    document.querySelectorAll(".card.lit").forEach((each) => each.classList.remove("lit"));
    card.classList.add("lit");
    card.scrollIntoView({ block: "center" });
    card.focus({ preventScroll: true });
  };
  return blocks;
}

const pictures = about.relations.map(relationBlocks);

function draw() {
  known.clear();
  drawTypes(byId("types"));
  pictures.forEach((blocks, number) => {
    blocks.lift.recolour();
    blocks.draw();
    blocks.lift.drawLegend(byId(`legend-${number}`));
  });
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
begin(draw);
