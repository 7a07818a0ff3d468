// The cards of all clusters on screen, and their titles.

const MANY = 24; // cards, from which those off screen are not laid out

class Cards {
  constructor(data) {
    this.data = data;
    this.snippets = new Snippets(data);
    this.titles = data.titles;
    this.cards = { rows: [], columns: [] };
    byId("download-titles").addEventListener("click", () => this.downloadTitles());
    byId("reset-titles").addEventListener("click", () => this.resetTitles());
  }

  draw() {
    for (const side of SIDES) {
      const box = byId(`${side}-cards`);
      if (!box) continue; // a side that is not clustered
      const clusters = this.data.clusters(side);
      byId(`${side}-count`).textContent = whole(clusters.length);
      byId(`${side}-noun`).textContent = clusterNoun(clusters.length);
      const known = new Map(this.cards[side].map((card) => [card.key, card])); // which stay as they are
      this.cards[side] = clusters.map((facts) =>
        known.get(this.keyOf(facts)) ?? new Card(this, side, facts));
      box.classList.toggle("many", clusters.length > MANY);
      box.replaceChildren(...this.cards[side].map((card) => card.box));
    }
    this.describeTitles();
  }

  // What a card depends on; titles are renewed.
  keyOf({ cluster, node, size }) { return `${cluster} ${node} ${size} ${this.data.isFitLevel}`; }

  // A name that shows its element in the matrix.
  nameButton(side, element) {
    const name = this.data[side].names[element];
    const attributes = { type: "button", class: "link", title: name };
    const button = newElement("button", attributes, isolated(name));
    button.addEventListener("click", () => this.onMember?.({ side, element }));
    return button;
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
      [side, Object.fromEntries(clusters.map(({ cluster, title }) => [cluster, title]))]);
    const counts = sides.map(([, clusters]) => clusters.length || null);
    const text = JSON.stringify({ n_clusters: counts, ...Object.fromEntries(titles) }, null, 2);
    download("titles.json", text, "application/json");
  }
}
