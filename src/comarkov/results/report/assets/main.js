// Puts the page together.

class Report {
  constructor(data) {
    this.data = data;
    this.heatmap = new Heatmap(byId("heatmap"), data);
    this.blocks = byId("blocks") && new Blocks(byId("blocks"), data);
    this.heatmap.layout();
    this.navigation = new Navigation(this.heatmap);
    this.search = new Search(byId("query"), byId("matches"), data);
    this.maps = SIDES.filter((side) => byId(`${side}-map`)).map((side) =>
      new ElementMap(byId(`${side}-map`), data, side));
    this.cards = new Cards(data);
    this.pictures = [this.heatmap, ...(this.blocks ? [this.blocks] : []), ...this.maps];
    this.highlight = new Highlight(data, this.pictures, this.navigation, this.cards.snippets);
    this.levels = new Levels(data);
    this.findings = new LevelFindings(data);
    this.connectPictures();
    this.connectSearch();
    data.onLevel = () => this.onLevel();
    this.connectCards();
    this.connectClasses();
    this.connectButtons();
    this.connectScreen();
    connectDownloads(data.sections);
    connectContents();
    this.levels.describe();
    this.describeSubset();
  }

  connectPictures() {
    const { heatmap, blocks, navigation, highlight } = this;
    heatmap.onDraw = () => {
      this.describeScale();
      if (!heatmap.cursor) byId("where").textContent = heatmap.extent;
    };
    navigation.onStep = (lines) => byId("where").replaceChildren(...joined(lines));
    navigation.onClear = () => highlight.set(null);
    if (!blocks) return;
    blocks.onStep = (lines) => byId("blocks-where").replaceChildren(...joined(lines));
    blocks.onChoose = (block) => this.showBlock(block);
    byId("findings").addEventListener("click", ({ target }) => {
      const { rows, columns } = target.closest("[data-rows]")?.dataset ?? {};
      if (rows) this.showBlock({ rows: +rows, columns: +columns });
    });
  }

  showBlock({ rows, columns }) {
    this.navigation.show({ rows: this.around("rows", rows), columns: this.around("columns", columns) });
    this.lookAtMatrix();
  }

  // What the colours of cells mean.
  describeScale() {
    const { high, by } = this.heatmap.picture, far = (2 ** about.far).toPrecision(2).replace(".0", "");
    byId("low").textContent = by === "lift" ? `×1/${far}` : "0";
    byId("high").textContent = by === "lift" ? `×${far}` : high === null ? "high"
      : by === "share" ? percentText(high) : short(high);
    byId("scale-of").textContent = { weight: about.entry, share: "of its row", lift: "the expected entry" }[by];
  }

  // The places of a cluster with a little room on both sides; all places if there are no clusters.
  around(side, cluster) {
    const band = this.data.view[side].bands.find((each) => each.cluster === cluster);
    const { start, end } = band ?? { start: 0, end: this.data[side].n };
    const room = 0.04 * (end - start);
    return [start - room, end + room];
  }

  connectSearch() {
    this.search.onChoose = (element) => this.showElement(element);
    this.search.onClear = () => this.highlight.clear();
    this.highlight.onClear = () => this.search.clear();
    for (const map of this.maps) {
      map.onChoose = this.search.onChoose;
      map.onCluster = (side, cluster) => this.show({ side, cluster });
    }
  }

  // Draw again what depends on the level, on β or on the order of clusters.
  onLevel() {
    this.heatmap.cursor = null; // another cell is there now
    if (this.blocks) byId("blocks-where").textContent = "";
    describeFigures(this.data.view);
    this.levels.describe();
    this.highlight.renew(); // draws the pictures
    this.cards.draw();
    this.highlight.markCard();
    this.findings.draw();
    recolourBadges(this.data);
    this.drawClasses();
  }

  // Mark an element or a cluster in the whole matrix.
  show(target) {
    this.highlight.set(target);
    this.navigation.showAll();
    this.lookAtMatrix();
  }

  showElement({ side, element }) { this.show({ side, element }); }

  connectButtons() {
    byId("zoom-in").addEventListener("click", () => this.navigation.zoomBy(STEP));
    byId("zoom-out").addEventListener("click", () => this.navigation.zoomBy(1 / STEP));
    byId("zoom-all").addEventListener("click", () => this.navigation.showAll());
    byId("colour").addEventListener("change", ({ target }) => {
      Object.assign(this.heatmap.picture, { by: target.value }).recolour();
      this.heatmap.draw();
      this.drawRamp();
    });
    connectSaving((id, kind) => this.save(id, kind));
  }

  connectCards() {
    this.cards.onShow = (side, cluster) => this.show({ side, cluster });
    this.cards.onMember = (element) => {
      this.showElement(element);
      this.highlight.zoomToElement();
    };
    this.cards.onTitle = () => {
      this.levels.describe();
      this.draw();
    };
    this.cards.draw();
  }

  connectClasses() {
    const sides = SIDES.filter((side) => this.data.classes.has(side));
    this.tables = sides.map((side) => new ClassTable(this.data.classes, side));
    this.legends = sides.map((side) => new ClassLegend(this.data.classes, side, () => {
      this.heatmap.drawLater();
      this.drawClasses();
    }));
    this.drawClasses();
  }

  drawClasses() {
    for (const part of [...this.legends, ...this.tables]) part.draw();
  }

  lookAtMatrix() {
    const selection = byId("selection"), target = selection.hidden ? byId("heatmap-frame") : selection;
    target.scrollIntoView({ block: "nearest" });
    byId("heatmap").focus({ preventScroll: true });
  }

  // A picture as a file, with nothing selected.
  save(id, kind) {
    if (id === "blocks") return savePicture(id, kind, this.blocks.size, (pen) => this.blocks.drawWith(pen));
    const picture = [this.heatmap, ...this.maps].find(({ canvas }) => canvas.id === id), { lit } = this.highlight;
    const { clientWidth, clientHeight } = picture.canvas;
    Object.assign(picture, { lit: null, cursor: null });
    savePicture(id, kind, [clientWidth, clientHeight], (pen) => {
      fitted.pen = pen;
      picture.draw();
      fitted.pen = null;
    });
    return this.drawWith(lit);
  }

  // Draw again when colours or widths have changed.
  connectScreen() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    onWidth(() => this.draw());
    document.querySelectorAll("details").forEach((each) =>
      each.addEventListener("toggle", () => this.drawCharts()));
    connectPaper(() => this.drawWith(null), () => this.drawWith(this.highlight.lit));
  }

  // Where the page does not hold all entries, how many it has.
  describeSubset() {
    if (about.cells === about.all_cells) return;
    byId("subset").textContent = `This file has the ${whole(about.cells)} largest of `
      + `${whole(about.all_cells)} entries. The far view shows all of them; near views show these.`;
    byId("subset").hidden = false;
  }

  draw() {
    known.clear();
    this.heatmap.picture.recolour();
    this.heatmap.draw();
    this.drawRamp();
    this.drawClasses();
    this.drawCharts();
    recolourBadges(this.data);
  }

  drawCharts() {
    this.blocks?.draw();
    this.blocks?.lift.drawLegend(byId("lift-legend"));
    this.maps.forEach((map) => map.draw());
  }

  // With this highlight; on paper there is none.
  drawWith(lit) {
    for (const picture of this.pictures) Object.assign(picture, { lit, cursor: null });
    this.draw();
  }

  drawRamp() {
    const canvas = byId("ramp"), pen = canvas.getContext("2d");
    for (let x = 0; x < canvas.width; x++) {
      const share = x / (canvas.width - 1), { scale, by } = this.heatmap.picture;
      pen.fillStyle = css(scale(by === "lift" ? share : Math.sqrt(share)));
      pen.fillRect(x, 0, 1, canvas.height);
    }
  }
}

async function open() {
  byId("loading").hidden = false;
  new Report(new ReportData(await unpack())).draw();
  byId("loading").remove();
  document.documentElement.dataset.ready = "yes";
}

open().catch((error) => {
  const box = byId("loading"), cause = `The pictures cannot be drawn: ${error.message}.`;
  if (box) box.textContent = `${cause} A newer browser may help.`;
  console.error(error);
});
