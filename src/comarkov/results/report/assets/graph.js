// The aggregated chain: clusters on a circle, and arrows for the transitions between them.

const MOST_ARROWS = 20; // that are shown at first, or two for each cluster if that is more
const LEAST = 0.02; // weaker arrows are hidden at first
const MOST_LABELS = { wide: 30, narrow: 12 }; // arrows up to which each has its probability
const WIDE = 640; // pixels from which titles stand beside the circles
const TITLE = { room: 200, share: 0.2, letter: 6.8 }; // pixels beside a circle, and of a letter
const PLACES = [0.4, 0.5, 0.32, 0.6, 0.45, 0.55, 0.25, 0.68]; // of a label along its arrow
const LARGEST = 60, SMALLEST = 13; // radii of circles

class ChainGraph {
  constructor(box) {
    this.box = box;
    this.k = about.titles.length;
    this.pinned = null; // the cluster whose arrows are shown, beside one under the pointer
    const all = about.probabilities.flatMap((row, from) =>
      row.map((probability, to) => ({ from, to, probability })));
    this.arrows = all.filter(({ from, to, probability }) => from !== to && probability > 0)
      .sort((a, b) => b.probability - a.probability); // to other clusters, the likeliest first
    const strong = this.arrows.filter(({ probability }) => probability >= LEAST).length;
    this.shown = Math.min(Math.max(MOST_ARROWS, 2 * this.k), strong || this.arrows.length);
  }

  draw() {
    this.layout();
    this.nodes = about.order.map((cluster) => this.node(cluster));
    this.labels = this.radius.map((radius, cluster) => // what labels keep clear of
      ({ ...this.at[cluster], wide: radius, high: radius }));
    this.lines = this.arrows.map((arrow) => this.arrow(arrow));
    this.box.replaceChildren(svg("svg", { width: this.width, height: this.height, role: "group",
      "aria-label": "The aggregated chain as a graph" },
    svg("g", {}, ...[...this.lines].reverse()), svg("g", {}, ...this.nodes)));
    this.update(this.pinned);
  }

  layout() {
    this.width = this.box.clientWidth;
    this.isWide = this.width >= WIDE;
    const tall = this.isWide ? Math.min(680, 340 + 22 * this.k) : Math.min(this.width, 460);
    this.height = this.k < 3 ? Math.min(240, tall) : tall;
    const room = this.isWide ? Math.min(TITLE.room, TITLE.share * this.width) : 0;
    this.letters = Math.floor(room / TITLE.letter);
    const apart = Math.sin(Math.PI / Math.max(this.k, 3));
    const largest = Math.min(LARGEST, (this.isWide ? 0.34 : 0.25) * this.height * apart);
    const high = this.height / 2 - largest - (this.isWide ? 22 : 4);
    const wide = Math.min(this.k < 3 ? 2.5 * largest : 1.7 * high, this.width / 2 - room - largest - 4);
    this.gap = 2 * Math.PI * wide / this.k; // between circles at the top and at the bottom
    const most = Math.max(...about.shares);
    this.radius = about.shares.map((share) =>
      Math.max(Math.min(SMALLEST, largest), largest * Math.sqrt(share / most)));
    this.at = [];
    about.order.forEach((cluster, place) => {
      const [x, y] = onCircle(place, this.k);
      this.at[cluster] = {
        x: this.width / 2 + wide * x, y: this.height / 2 + high * y, side: x, below: y >= 0,
      };
    });
  }

  node(cluster) {
    const { x, y } = this.at[cluster], radius = this.radius[cluster];
    const stays = about.probabilities[cluster][cluster], isLarge = radius >= 25;
    const texts = [svg("text", { class: "node-number", y: isLarge ? -3 : 4 }, String(cluster + 1))];
    if (isLarge) texts.push(svg("text", { class: "node-stays", y: 13 }, percentText(stays)));
    if (this.isWide) texts.push(this.title(cluster));
    const node = svg("g", { class: "node", transform: moved(x, y), tabindex: 0, role: "button",
      "aria-label": joined(this.describe(cluster)).join("") },
    svg("circle", { r: radius, style: { fill: categoryColour(cluster) } }), ...texts);
    node.addEventListener("pointerenter", () => this.update(cluster));
    node.addEventListener("pointermove", (event) =>
      tooltip.show(this.describe(cluster), event.clientX, event.clientY));
    node.addEventListener("pointerleave", () => this.leave());
    node.addEventListener("focus", () => this.update(cluster));
    node.addEventListener("blur", () => this.leave());
    const press = (event) => {
      event.preventDefault();
      this.pin(this.pinned === cluster ? null : cluster);
    };
    node.addEventListener("click", press);
    node.addEventListener("keydown", (event) => { if (["Enter", " "].includes(event.key)) press(event); });
    return node;
  }

  // Beside a circle; above or below one that is in the middle.
  title(cluster) {
    const { side, below } = this.at[cluster], radius = this.radius[cluster];
    const name = about.titles[cluster], isBeside = Math.abs(side) > 0.35;
    const most = isBeside ? this.letters : Math.floor(this.gap / TITLE.letter);
    const text = name.length > most ? `${name.slice(0, most - 1)}…` : name;
    const anchor = isBeside ? (side > 0 ? "start" : "end") : "middle";
    return svg("text", { class: "node-title", "text-anchor": anchor,
      x: isBeside ? Math.sign(side) * (radius + 8) : 0,
      y: isBeside ? 4 : (below ? radius + 17 : -radius - 8) }, text);
  }

  arrow({ from, to, probability }) {
    const { line, head, places } = this.curve(from, to, probability);
    const label = this.clear(places, percentText(probability));
    const group = svg("g", { class: "arrow", "data-from": from, "data-to": to },
      svg("path", { class: "line", d: line, "stroke-width": thickness(probability) }),
      svg("path", { class: "head", d: head }),
      svg("text", { class: "arrow-label", x: label.x, y: label.y + 4 }, percentText(probability)));
    group.addEventListener("pointermove", (event) => tooltip.show([
      textLine("strong", `${from + 1} → ${to + 1}: ${percentText(probability)}`),
      textLine("", isolated(about.titles[from]), " → ", isolated(about.titles[to])),
    ], event.clientX, event.clientY));
    group.addEventListener("pointerleave", () => tooltip.hide());
    return group;
  }

  // A curve that bends to one side, so that the arrow back bends to the other.
  curve(from, to, probability) {
    const a = this.at[from], b = this.at[to];
    const [dx, dy] = [b.x - a.x, b.y - a.y], length = Math.hypot(dx, dy) || 1;
    const bend = 0.1 * length + 10;
    const middle = { x: (a.x + b.x) / 2 - dy / length * bend, y: (a.y + b.y) / 2 + dx / length * bend };
    const size = 6 + 1.4 * thickness(probability);
    const start = towards(a, middle, this.radius[from] + 2);
    const tip = towards(b, middle, this.radius[to] + 2), base = towards(b, middle, this.radius[to] + 2 + size);
    const across = { x: (tip.y - base.y) * 0.5, y: (base.x - tip.x) * 0.5 };
    return {
      line: `M${start.x},${start.y}Q${middle.x},${middle.y} ${base.x},${base.y}`,
      head: `M${tip.x},${tip.y}L${base.x + across.x},${base.y + across.y}`
        + `L${base.x - across.x},${base.y - across.y}Z`,
      places: PLACES.map((share) => along(start, middle, base, share)),
    };
  }

  // The first of these places where a label covers no circle and no label of a stronger arrow.
  clear(places, text) {
    const box = ({ x, y }) => ({ x, y, wide: 3.6 * text.length, high: 8 });
    const place = places.find((each) => this.labels.every((other) => !overlap(box(each), other)));
    this.labels.push(box(place ?? places[0]));
    return place ?? places[0];
  }

  describe(cluster) {
    const row = about.probabilities[cluster];
    const next = row.map((probability, to) => ({ to, probability }))
      .filter(({ to, probability }) => to !== cluster && probability > 0)
      .sort((a, b) => b.probability - a.probability).slice(0, 4);
    return [
      textLine("strong", `Cluster ${cluster + 1}: ${about.titles[cluster]}`),
      textLine("", `${percentText(about.shares[cluster])} of the time`),
      textLine("", `stays: ${percentText(row[cluster])}`),
      ...next.map(({ to, probability }) => textLine("soft", `to ${to + 1}: ${percentText(probability)}`)),
    ];
  }

  pin(cluster) {
    this.pinned = cluster;
    this.update(cluster);
    document.querySelectorAll(".card").forEach((card) =>
      card.classList.toggle("lit", +card.dataset.cluster === cluster));
  }

  leave() {
    tooltip.hide();
    this.update(this.pinned);
  }

  // Show the likeliest arrows, or all arrows of one cluster.
  update(cluster) {
    const isLit = ({ from, to }) => cluster !== null && (from === cluster || to === cluster);
    const most = this.isWide ? MOST_LABELS.wide : MOST_LABELS.narrow;
    this.arrows.forEach((arrow, rank) => {
      const { classList } = this.lines[rank];
      classList.toggle("off", rank >= this.shown && !isLit(arrow));
      classList.toggle("dim", cluster !== null && !isLit(arrow));
      classList.toggle("out", arrow.from === cluster);
      classList.toggle("labelled", isLit(arrow) || (cluster === null && this.shown <= most));
    });
    about.order.forEach((each, place) =>
      this.nodes[place].classList.toggle("lit", each === cluster));
  }

  show(count) {
    this.shown = count;
    this.update(this.pinned);
  }

  get extent() {
    const all = this.arrows.length;
    if (this.shown === all) return `all ${countText(all)}`;
    if (this.shown === 0) return `none of ${countText(all)}`;
    const least = this.arrows[this.shown - 1].probability;
    return `the strongest ${countText(this.shown)} of ${countText(all)}, from ${percentText(least)}`;
  }
}

const thickness = (probability) => 1 + 7 * probability;

// The point at a distance from one point on the way to another.
function towards(from, to, distance) {
  const [dx, dy] = [to.x - from.x, to.y - from.y], share = distance / (Math.hypot(dx, dy) || 1);
  return { x: from.x + dx * share, y: from.y + dy * share };
}

// A point on a quadratic curve.
function along(start, middle, end, share) {
  const mix = (p, q, r) => (1 - share) ** 2 * p + 2 * share * (1 - share) * q + share ** 2 * r;
  return { x: mix(start.x, middle.x, end.x), y: mix(start.y, middle.y, end.y) };
}

const overlap = (a, b) =>
  Math.abs(a.x - b.x) < a.wide + b.wide && Math.abs(a.y - b.y) < a.high + b.high;

function connectArrows(graph) {
  const slider = byId("arrows"), shown = byId("arrows-shown");
  slider.max = graph.arrows.length;
  slider.value = graph.shown;
  byId("arrows-control").hidden = graph.arrows.length < 3;
  const update = () => {
    graph.show(+slider.value);
    shown.textContent = graph.extent;
  };
  slider.addEventListener("input", update);
  shown.textContent = graph.extent;
}

const graph = new ChainGraph(byId("chain"));
begin(() => graph.draw());
connectArrows(graph);
connectSaving((id, kind) => saveDrawing(id, kind, byId(id).firstElementChild));
document.querySelectorAll("button.show").forEach((button) =>
  button.addEventListener("click", () => {
    graph.pin(+button.dataset.cluster);
    byId("chain").scrollIntoView({ block: "nearest" });
  }));
