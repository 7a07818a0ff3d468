// The element or cluster that was asked for: marked in the pictures and cards, described in a line.

class Highlight {
  // Pictures have a field `lit`, and draw themselves again.
  constructor(data, pictures, navigation, snippets) {
    Object.assign(this, { data, pictures, navigation, snippets });
    this.lit = null;
  }

  // { side, element }, { side, cluster }, or null for nothing.
  set(target) {
    const isElement = target?.element !== undefined;
    const cluster = isElement ? this.data.view[target.side].label[target.element] : target?.cluster;
    const node = target && this.data.view.nodes[target.side]?.[cluster];
    this.lit = target && { ...target, cluster, node };
    this.markCard();
    byId("selection").hidden = !isElement;
    if (isElement) this.describe();
    for (const picture of this.pictures) {
      picture.lit = this.lit;
      if (picture.drawLater) picture.drawLater();
      else picture.draw();
    }
  }

  markCard() {
    document.querySelectorAll(".card.lit").forEach((card) => card.classList.remove("lit"));
    this.card?.classList.add("lit");
  }

  // After another view was chosen, in which the element may be in another cluster, or the cluster
  // may have another number or be gone.
  renew() {
    const { side, element, node } = this.lit ?? {}, nodes = this.data.view.nodes[side];
    if (!this.lit || element !== undefined || !nodes) return this.set(this.lit);
    const cluster = nodes.indexOf(node);
    return this.set(cluster < 0 ? null : { side, cluster });
  }

  clear() {
    this.set(null);
    this.onClear?.();
  }

  get card() { return this.lit && byId(`${this.lit.side}-${this.lit.cluster}`); }

  describe() {
    const { side, element } = this.lit;
    const buttons = [newButton("Zoom to it", () => this.zoomToElement())];
    if (this.card) buttons.push(newButton("Its cluster", () => this.goToCard()));
    buttons.push(newButton("Clear", () => this.clear()));
    byId("selection").replaceChildren(
      newElement("p", {}, isolated(this.data[side].names[element]), ` · ${this.facts} `, ...buttons),
      newElement("p", { class: "note profile" }, ...this.data.profile(side, element)),
      ...this.snippet);
  }

  // The text of a row that is a document.
  get snippet() {
    const { side, element, cluster } = this.lit;
    if (!this.snippets.of(side, element)) return [];
    const words = distinctiveWords(this.data.clusters(side)[cluster]);
    return [newElement("p", { class: "snippet", dir: "auto" }, ...this.snippets.marked(side, element, words))];
  }

  // Rank and confidence are those of the fit, and are not known of other levels.
  get facts() {
    const { side, element, cluster } = this.lit;
    const { kind, clusters, rank, confidence } = this.data[side];
    if (!clusters) return `${kind}, not clustered`;
    const parts = [cluster < 0 ? "in no cluster" : `${kind} cluster ${cluster + 1}`];
    if (!this.data.isFitLevel) return parts[0];
    if (rank[element]) parts.push(`rank ${rank[element]}`);
    if (confidence[element]) parts.push(`confidence ${(+confidence[element]).toFixed(2)}`);
    const known = this.data.classes.nameOf(side, element);
    if (known) parts.push(`class ${known}`);
    return parts.join(" · ");
  }

  zoomToElement() {
    const { side, element } = this.lit, place = this.data.view[side].place[element];
    this.navigation.show({ [side]: [place - 4, place + 5] });
  }

  goToCard() {
    openAround(this.card);
    this.card.scrollIntoView({ block: "center" });
    this.card.focus({ preventScroll: true });
  }
}
