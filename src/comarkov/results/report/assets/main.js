// Puts the page together.

const byId = (id) => document.getElementById(id);

function start(data) {
  const heatmap = new Heatmap(byId("heatmap"), data);
  const blocks = new Blocks(byId("blocks"), data);
  heatmap.layout();
  const navigation = new Navigation(heatmap);
  const search = new Search(byId("query"), byId("matches"), data, () => heatmap.view);
  const tell = (id) => (lines) =>
    byId(id).replaceChildren(...lines.flatMap(({ parts }, i) => (i ? [", ", ...parts] : parts)));

  // Show where an element is in this view, or a cluster, or nothing.
  function light(lit) {
    if (lit?.element !== undefined) lit = { ...lit, cluster: heatmap.view[lit.side].label[lit.element] };
    heatmap.lit = blocks.lit = lit;
    document.querySelectorAll(".card.lit").forEach((card) => card.classList.remove("lit"));
    if (lit) byId(`${lit.side}-${lit.cluster}`)?.classList.add("lit");
    tellFound(lit);
    heatmap.later();
    blocks.draw();
  }

  function zoomTo(rows, columns) {
    const wider = (from, to) => [from - (to - from) * 0.04, to + (to - from) * 0.04];
    navigation.show(...wider(...columns), ...wider(...rows));
  }

  const band = (side, cluster) => {
    const all = [0, data[side].n];
    const found = heatmap.view[side].bands.find((each) => each.cluster === cluster);
    return found ? [found.start, found.end] : all;
  };

  const button = (text, action) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", action);
    return made;
  };

  // What is known of an element in this view: its rank and confidence are those of the fit.
  function facts({ side, element, cluster }) {
    const { kind, clusters, rank, confidence } = data[side], { fit, beta } = heatmap.view;
    if (!clusters) return `${kind}, not clustered`;
    const where = cluster < 0 ? "in no cluster" : `${kind} cluster ${cluster}`;
    if (!fit) return `${where} at β = ${short(beta)}`;
    return [where, rank[element] && `rank ${rank[element]}`,
      confidence[element] && `confidence ${(+confidence[element]).toFixed(2)}`].filter(Boolean).join(" · ");
  }

  function tellFound(lit) {
    const line = byId("found");
    line.hidden = lit?.element === undefined;
    if (line.hidden) return;
    const { side, element, cluster } = lit, card = byId(`${side}-${cluster}`);
    line.replaceChildren(apart(data[side].names[element]), ` · ${facts(lit)} `,
      button("Zoom to it", () => zoomToElement(side, element)),
      ...(card ? [button("Its cluster", () => {
        card.scrollIntoView({ block: "center" });
        card.focus({ preventScroll: true });
      })] : []),
      button("Clear", () => { search.input.value = ""; light(null); }));
  }

  function zoomToElement(side, element) {
    const { x0, x1, y0, y1 } = heatmap.window, place = heatmap.view[side].place[element];
    const near = [place - 4, place + 5];
    if (side === "rows") navigation.show(x0, x1, ...near);
    else navigation.show(...near, y0, y1);
  }

  search.onChoose = ({ side, element }) => {
    light({ side, element });
    navigation.all();
  };
  search.onClear = () => light(null);
  navigation.onClear = () => light(null);
  navigation.onTell = tell("where");
  blocks.onTell = tell("blocks-where");
  blocks.onChoose = ({ a, b }) => {
    const side = (name, i) => (data[name].clusters ? band(name, i) : [0, data[name].n]);
    zoomTo(side("rows", a), side("columns", b));
  };
  heatmap.onDraw = ({ x0, x1, y0, y1 }) => {
    byId("high").textContent = heatmap.highest === null ? "high" : short(heatmap.highest);
    const whole = (n) => n.toLocaleString("en");
    const part = (from, to, n, what) => (to - from >= n ? `all ${whole(n)} ${what}`
      : `${what} ${whole(Math.floor(from) + 1)}–${whole(Math.ceil(to))} of ${whole(n)}`);
    if (heatmap.cursor) return;
    byId("where").textContent =
      `${part(y0, y1, data.rows.n, "rows")} × ${part(x0, x1, data.columns.n, "columns")}`;
  };

  document.querySelectorAll("button.show").forEach((button) =>
    button.addEventListener("click", () => {
      const { side, cluster } = button.dataset;
      light({ side, cluster: +cluster });
      navigation.all();
      byId("heatmap-frame").scrollIntoView({ block: "nearest" });
      byId("heatmap").focus({ preventScroll: true });
    }));
  byId("zoom-in").addEventListener("click", () => navigation.zoomMiddle(1.6));
  byId("zoom-out").addEventListener("click", () => navigation.zoomMiddle(1 / 1.6));
  byId("zoom-all").addEventListener("click", () => navigation.all());

  document.querySelectorAll("button.download").forEach((button) =>
    button.addEventListener("click", () => {
      const name = button.dataset.file;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([data.sections.get(name)], { type: "text/csv" }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }));

  function drawRamp() {
    const pen = byId("ramp").getContext("2d");
    d3.range(120).forEach((i) => {
      pen.fillStyle = heatmap.scale(Math.sqrt(i / 119));
      pen.fillRect(i, 0, 1, 8);
    });
  }

  function drawCharts() {
    const most = d3.max(["rows", "columns"].flatMap((name) => data[name].linkage), (line) => line[2]);
    for (const name of ["rows", "columns"]) {
      if (data[name].clusters > 1) dendrogram(byId(`${name}-tree`), data[name], most);
      const pairs = byId(`${name}-pairs`);
      if (pairs && data[name].pairs.length) pairMatrix(pairs, data[name]);
      else if (pairs) pairs.closest("details").hidden = true;
    }
    if (about.views.length > 1) {
      curve(byId("kept-chart"), about.views, (view) => view.kept, d3.format(".0%"), heatmap.viewIndex, setView);
      curve(byId("cost-chart"), about.views, (view) => view.cost, d3.format(".2~g"), heatmap.viewIndex, setView);
    }
  }

  function tellView() {
    const i = heatmap.viewIndex;
    const { beta, cost, kept, fit } = about.views[i];
    byId("beta").value = i;
    byId("beta-name").textContent = `= ${short(beta)}${fit ? " (the fit)" : ""}`;
    byId("beta").setAttribute("aria-valuetext", `${short(beta)}${fit ? ", the fit" : ""}`);
    byId("beta-now").textContent = short(beta);
    byId("kept").textContent = percent(kept);
    byId("cost").textContent = short(cost);
    byId("bits").textContent = short(kept * about.information);
  }

  function setView(i) {
    heatmap.viewIndex = blocks.viewIndex = i;
    heatmap.cursor = null; // another cell is there now
    byId("blocks-where").textContent = "";
    tellView();
    light(heatmap.lit);
    drawCharts();
  }

  if (about.cells < about.all_cells) {
    const note = byId("subset");
    note.textContent = `Of ${about.all_cells.toLocaleString("en")} entries the ${about.cells.toLocaleString("en")} `
      + "heaviest are in this file. The far view shows all of them; near views show these.";
    note.hidden = false;
  }
  byId("beta")?.addEventListener("input", (event) => setView(+event.target.value));

  function drawAll() {
    colours.clear();
    heatmap.recolour();
    blocks.recolour();
    heatmap.draw();
    blocks.draw();
    blocks.legend(byId("lift-legend"));
    drawRamp();
    drawCharts();
  }
  drawAll();
  byId("loading").remove();
  if (about.views.length > 1) tellView();
  theme.addEventListener("change", drawAll);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // phones resize when their bars come and go
    width = innerWidth;
    requestAnimationFrame(drawAll);
  });
  document.querySelectorAll("details").forEach((each) => each.addEventListener("toggle", drawCharts));
  document.documentElement.dataset.ready = "yes";
  return { heatmap, blocks, navigation };
}

byId("loading").hidden = false;
unpack().then((sections) => start(readAll(sections))).catch((error) => {
  const box = byId("loading");
  if (box) box.textContent = `The pictures cannot be drawn: ${error.message}. A newer browser may help.`;
  console.error(error);
});
