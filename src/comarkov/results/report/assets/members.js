// A long list, which grows as the reader comes near its end.

const LINES = 60; // that are added each time

class LongList {
  constructor(label, drawLine) {
    this.drawLine = drawLine;
    this.list = newElement("ol", { role: "list" });
    this.box = newElement("div",
      { class: "long", tabindex: "0", role: "group", "aria-label": label }, this.list);
    this.box.addEventListener("scroll", () => this.grow(), { passive: true });
  }

  show(items) {
    this.items = items;
    this.list.replaceChildren();
    this.box.scrollTop = 0;
    this.grow();
  }

  grow() {
    const { scrollTop, clientHeight, scrollHeight } = this.box, at = this.list.children.length;
    if (at && scrollTop + 2 * clientHeight < scrollHeight) return;
    this.list.append(...Array.from(this.items.slice(at, at + LINES), (item, i) =>
      newElement("li", { "aria-setsize": this.items.length, "aria-posinset": at + i + 1 }, ...this.drawLine(item))));
  }
}

// --- all members of a cluster, to be searched and sorted, with a snippet where they are texts.

const ORDERS = {
  typical: "Most typical first",
  confident: "Most confident first",
  doubtful: "Least confident first",
  name: "By name",
};

const BY_CONFIDENCE = { confident: -1, doubtful: 1 }; // falling or rising

class Members {
  constructor(cards, side, facts) {
    Object.assign(this, { cards, side, facts, data: cards.data });
    const { kind } = this.data[side], label = `Members of cluster ${facts.cluster + 1}`;
    this.input = newElement("input", { type: "search", placeholder: `Find ${kind} …`,
      "aria-label": `Find among the members of cluster ${facts.cluster + 1}`, spellcheck: "false" });
    this.select = newSelect(`Order of the ${label.toLowerCase()}`, this.orders, () => this.show());
    this.count = newElement("span", { class: "note count", role: "status" });
    this.list = new LongList(label, (element) => this.line(element));
    this.list.box.classList.toggle("with-texts", cards.snippets.has(side));
    this.words = distinctiveWords(facts);
    this.input.addEventListener("input", () => this.show());
  }

  get orders() {
    const hasConfidence = this.data[this.side].confidence.some((text) => text !== "");
    return hasConfidence ? ORDERS : { typical: ORDERS.typical, name: ORDERS.name };
  }

  get parts() {
    return [newElement("div", { class: "member-bar" }, this.input, this.select, this.count), this.list.box];
  }

  show() {
    const text = visible(this.input.value).trim().toLowerCase();
    const lower = lowerNames(this.data[this.side]);
    const members = this.sorted().filter((element) => lower[element].includes(text));
    const all = whole(this.facts.members.length);
    this.count.textContent = text ? `${whole(members.length)} of ${all}` : all;
    this.list.show(members);
  }

  // As the data have them, members are the most typical first.
  sorted() {
    const members = this.facts.members, { confidence } = this.data[this.side];
    const sign = BY_CONFIDENCE[this.select.value];
    if (sign) return members.slice().sort((a, b) => sign * (confidence[a] - confidence[b]));
    if (this.select.value !== "name") return members;
    const place = alphabetical(this.data[this.side]);
    return members.slice().sort((a, b) => place[a] - place[b]);
  }

  line(element) {
    const { confidence, rank } = this.data[this.side], { snippets } = this.cards;
    const sure = confidence[element] ? `confidence ${(+confidence[element]).toFixed(2)}` : "";
    const parts = [
      newElement("span", { class: "rank", title: "Rank by typicality in the fit" }, rank[element]),
      this.cards.nameButton(this.side, element),
      newElement("span", { class: "note" }, sure),
    ];
    if (!snippets.has(this.side)) return parts;
    return [...parts, newElement("p", { class: "snippet", dir: "auto" },
      ...snippets.marked(this.side, element, this.words))];
  }
}

const lowerNames = (facts) => facts.lower ??= facts.names.map((name) => name.trim().toLowerCase());

// The place of each element of a side by name, numbers in names by their value.
function alphabetical(facts) {
  if (!facts.byName) {
    const { compare: before } = new Intl.Collator("en", { numeric: true });
    const order = [...facts.names.keys()].sort((a, b) => before(facts.names[a], facts.names[b]));
    facts.byName = new Uint32Array(order.length);
    order.forEach((element, place) => (facts.byName[element] = place));
  }
  return facts.byName;
}

// --- snippets of the texts of rows, with the distinctive words of a cluster marked.

class Snippets {
  constructor(data) {
    const bytes = data.sections.get("row texts");
    this.lines = bytes ? textOf(bytes).split("\n") : null;
    this.from = data.rows.from;
  }

  has(side) { return side === "rows" && this.lines !== null; }

  of(side, element) { return this.has(side) ? visible(this.lines[this.from[element]]) : ""; }

  // The parts of a snippet: texts, and marked words.
  marked(side, element, words) {
    return this.of(side, element).split(/([\p{L}\p{N}_]+)/u).map((part) =>
      (words.has(part.toLowerCase()) ? newElement("mark", {}, part) : part));
  }
}

const distinctiveWords = (facts) =>
  new Set((facts?.features ?? []).map(({ name }) => name.toLowerCase()));
