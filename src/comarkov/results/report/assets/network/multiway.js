// Puts the page of several types together.

// What the picture of blocks asks of the data, for one relation.
function relationData({ types: [rows, columns], share, expected }) {
  const side = (i) => ({ clusters: about.types[i].titles.length, kind: about.types[i].name });
  const order = (i) => ({ clusters: about.types[i].titles.map((_, cluster) => cluster) });
  const shape = [share.length, share[0].length];
  const view = { shape, share: share.flat(), expected: expected.flat(), rows: order(rows), columns: order(columns) };
  return { rows: side(rows), columns: side(columns), view };
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
