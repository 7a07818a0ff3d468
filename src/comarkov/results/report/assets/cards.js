// One cluster: title, figures, typical members, what is distinctive, and all members when asked.

const LISTED = 8; // names in each list of a card
const FEW = 3; // names of a folded card

class Card {
  constructor(cards, side, facts) {
    Object.assign(this, { cards, side, facts, data: cards.data, key: cards.keyOf(facts) });
    this.id = `${side}-${facts.cluster}`;
    this.box = newElement("article", { class: "card folded", id: this.id, tabindex: "-1",
      "aria-labelledby": `${this.id}-title` },
      this.header, this.sizes, this.few, this.lists, this.buttons, this.panel);
  }

  get header() {
    const { cluster } = this.facts, { kind } = this.data[this.side];
    this.heading = newElement("h3", { id: `${this.id}-title` });
    this.unfold = newButton("", () => this.toggle(), { class: "unfold", "aria-expanded": "false",
      "aria-label": `Details of ${kind} cluster ${cluster + 1}` });
    this.renewTitle();
    return newElement("header", {},
      badge(this.data, this.side, cluster), this.heading, this.unfold);
  }

  renewTitle() {
    const { title } = this.data.clusters(this.side)[this.facts.cluster];
    const change = (text) => this.cards.setTitle(this.side, this.facts, text);
    this.heading.replaceChildren(titleButton(title, change));
  }

  get sizes() {
    const { size, share } = this.facts;
    const members = `${whole(size)} member${size === 1 ? "" : "s"}`;
    return newElement("p", { class: "sizes" }, newElement("b", {}, members),
      ` · ${percentText(share)} of the weight`);
  }

  // On a phone a card is folded to these names.
  get few() {
    const { members, features } = this.facts, { readable, names } = this.data[this.side];
    const all = readable ? Array.from(members, (element) => names[element]) : features.map(({ name }) => name);
    const parts = all.slice(0, FEW).flatMap((name, i) => [i ? ", " : "", isolated(name)]);
    return newElement("p", { class: "few" }, ...parts, all.length > FEW ? " …" : "");
  }

  get lists() {
    const { members, features } = this.facts, other = otherSide(this.side);
    const typical = Array.from(members.slice(0, LISTED), (element) =>
      newElement("li", {}, this.cards.exampleButton(this.side, element)));
    const strong = features.filter(({ lift }) => isInformative(lift)).slice(0, LISTED);
    const distinctive = strong.map((feature) =>
      newElement("li", {}, this.bar(feature.lift),
        this.cards.exampleButton(other, feature.element, feature.name), strength(feature)));
    const none = newElement("p", { class: "note" }, "None stands out clearly.");
    const own = newElement("div", {}, newElement("h4", {}, "Most typical"), newElement("ol", {}, ...typical));
    return newElement("div", { class: "lists" },
      newElement("div", { class: "bars" }, newElement("h4", {}, "Distinctive ", isolated(this.data[other].kinds)),
        distinctive.length ? newElement("ol", {}, ...distinctive) : none),
      ...(this.data[this.side].readable || this.cards.snippets.has(this.side) ? [own] : []));
  }

  // As long as the octaves of a lift, on one scale for all cards of a side.
  bar(lift) {
    const width = `${100 * Math.log2(lift) / this.cards.farthest(this.side)}%`;
    const background = this.data.clusterColour(this.side, this.facts.cluster);
    return newElement("i", { "aria-hidden": "true", style: { width, background } });
  }

  get buttons() {
    const { size, cluster } = this.facts, { kind } = this.data[this.side];
    const show = newButton("Show in matrix", () => this.cards.onShow?.(this.side, cluster),
      { class: "show", "aria-label": `Show ${kind} cluster ${cluster + 1} in the matrix` });
    const count = size === 1 ? "The only member" : `All ${whole(size)} members`;
    this.more = newButton(count, () => this.toggleMembers(), { class: "more", "aria-expanded": "false" });
    return newElement("p", { class: "card-buttons" }, this.more, show);
  }

  get panel() { return this.place = newElement("div", { class: "members", hidden: "" }); }

  // Folded cards exist only on phones.
  toggle() {
    const isOpen = !this.box.classList.toggle("folded");
    this.unfold.setAttribute("aria-expanded", String(isOpen));
  }

  toggleMembers() {
    const isOpen = this.place.hidden;
    this.place.hidden = !isOpen;
    this.box.classList.toggle("wide", isOpen);
    this.more.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return;
    if (!this.members) {
      this.members = new Members(this.cards, this.side, this.facts);
      this.place.append(...this.members.parts);
    }
    this.members.show();
  }
}

// A lift, or the shares of a category of records; a star marks what a test confirms.
function strength({ lift, p, share, overall }) {
  const text = share === undefined ? liftText(lift)
    : `${percentText(share)} here, ${percentText(overall)} overall`;
  const isSure = p !== null && p <= 0.05;
  const test = isSure ? { title: `Indicator of this cluster: p = ${significant(p, 2)}, corrected for all tests` } : {};
  return newElement("span", { class: "lift", ...test }, text + (isSure ? " ★" : ""));
}

// --- the cards of all clusters on screen, and their titles.

const MANY = 24; // cards, from which those off screen are not laid out

class Cards {
  constructor(data) {
    this.data = data;
    this.snippets = new Snippets(data);
    this.titles = data.titles;
    this.cards = { rows: [], columns: [] };
    byId("download-titles")?.addEventListener("click", () => this.downloadTitles());
    byId("reset-titles")?.addEventListener("click", () => this.resetTitles());
  }

  draw() {
    for (const side of SIDES) {
      const box = byId(`${side}-cards`);
      if (!box) continue; // a side that is not clustered
      const clusters = this.data.clusters(side);
      byId(`${side}-count`).textContent = whole(clusters.length);
      byId(`${side}-noun`).textContent = clusterNoun(clusters.length);
      const known = new Map(this.cards[side].map((card) => [card.key, card])); // which stay as they are
      this.cards[side] = clusters.map((cluster) =>
        known.get(this.keyOf(cluster)) ?? new Card(this, side, cluster));
      box.classList.toggle("many", clusters.length > MANY);
      box.replaceChildren(...this.cards[side].map((card) => card.box));
    }
    this.describeTitles();
  }

  // What a card depends on; titles are renewed.
  keyOf({ cluster, node, size }) { return `${cluster} ${node} ${size} ${this.data.isFitLevel}`; }

  // The octaves of the largest lift that the cards of a side may show.
  farthest(side) {
    const { tree } = this.data[side];
    return tree.farthest ??= Math.log2(largest(tree.features.flat(), ([, lift]) => lift));
  }

  // A name that shows its element in the matrix.
  nameButton(side, element, name = this.data[side].names[element]) {
    return newButton(isolated(name), () => this.onMember?.({ side, element }), { class: "link", title: name });
  }

  // Texts whose names say nothing are shown by what they say.
  exampleButton(side, element, name) {
    const text = this.data[side].readable ? "" : this.snippets.of(side, element);
    return this.nameButton(side, element, text || name);
  }

  setTitle(side, { cluster, node }, text) {
    this.titles.set(side, node, text);
    this.renewTitles();
    byId(`${side}-${cluster}`).querySelector("button.title").focus();
  }

  // Cards that are open stay open.
  renewTitles() {
    for (const card of [...this.cards.rows, ...this.cards.columns]) card.renewTitle();
    this.describeTitles();
    this.onTitle?.();
  }

  resetTitles() {
    this.titles.reset();
    this.renewTitles();
  }

  describeTitles() {
    if (!byId("titles-note")) return; // nothing was found
    byId("reset-titles").hidden = this.titles.isEmpty;
    byId("titles-note").textContent = this.titles.isStored
      ? "Click a title to change it. Titles stay in this browser."
      : "This browser does not store titles. Download them before you close the page.";
  }

  // The titles of the clusters on screen, as `comarkov report --titles` reads them.
  downloadTitles() {
    const sides = SIDES.map((side) =>
      [side, this.data[side].clusters ? this.data.clusters(side) : []]);
    const titles = sides.map(([side, clusters]) =>
      [side, Object.fromEntries(clusters.map(({ cluster, title }) => [cluster + 1, title]))]);
    const counts = sides.map(([, clusters]) => clusters.length || null);
    const about = { n_clusters: counts, numbered_from: 1 };
    const text = JSON.stringify({ ...about, ...Object.fromEntries(titles) }, null, 2);
    download("titles.json", text, "application/json");
  }
}
