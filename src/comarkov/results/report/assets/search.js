// The search box: an accessible combobox over the names of rows and columns.

const MATCHES = 12;

// Names with this prefix come first, then names that contain the text; of these the shortest, which
// is the name itself if there is one, then the most typical.
const compare = (a, b) => a.isInside - b.isInside || a.length - b.length || a.rank - b.rank;

class Search {
  constructor(input, list, data) {
    Object.assign(this, { input, list, data, matches: [], active: -1 });
    input.addEventListener("input", () => this.look());
    input.addEventListener("focus", () => this.look());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => this.close());
    list.addEventListener("mousedown", (event) => event.preventDefault()); // the input keeps the focus
    list.addEventListener("click", (event) => { // not before: a tap would fall through to the page below
      const item = event.target.closest("[role=option]");
      if (item) this.choose([...list.children].indexOf(item));
    });
  }

  // The best of both sides, the best of all first. Neither side crowds out the other.
  find(text) {
    const [rows, columns] = SIDES.map((side) => this.findIn(side, text));
    const room = (other) => Math.max(MATCHES / 2, MATCHES - other.length);
    return [...rows.slice(0, room(columns)), ...columns.slice(0, room(rows))].sort(compare);
  }

  findIn(side, text) {
    const facts = this.data[side], found = [];
    lowerNames(facts).forEach((name, element) => {
      const at = name.indexOf(text), rank = +facts.rank[element] || facts.n + 1; // in no cluster: last
      if (at >= 0) found.push({ side, element, isInside: at > 0, length: name.length, rank });
    });
    return found.sort(compare).slice(0, MATCHES);
  }

  look() {
    const text = visible(this.input.value).trim().toLowerCase();
    this.matches = text ? this.find(text) : [];
    this.active = this.matches.length ? 0 : -1;
    const items = this.matches.map((match, i) => this.item(match, i));
    const none = newElement("li", { class: "none" }, "Nothing has this name.");
    this.list.replaceChildren(...(items.length ? items : [none]));
    this.list.hidden = !text;
    this.input.setAttribute("aria-expanded", String(Boolean(text)));
    this.mark();
  }

  item({ side, element }, i) {
    const { kind, clusters, names } = this.data[side];
    const cluster = this.data.view[side].label[element];
    const where = cluster < 0 ? "no cluster" : `cluster ${cluster + 1}`;
    return newElement("li", { id: `match-${i}`, role: "option" }, isolated(names[element]),
      newElement("small", {}, clusters ? `${kind} · ${where}` : kind));
  }

  mark() {
    if (this.active < 0) {
      this.input.removeAttribute("aria-activedescendant");
      return;
    }
    [...this.list.children].forEach((item, i) =>
      item.setAttribute("aria-selected", String(i === this.active)));
    this.input.setAttribute("aria-activedescendant", `match-${this.active}`);
    this.list.children[this.active].scrollIntoView({ block: "nearest" });
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.matches.length) {
      this.active = (this.active + step + this.matches.length) % this.matches.length;
      this.mark();
    } else if (event.key === "Enter" && this.active >= 0 && !this.list.hidden) {
      this.choose(this.active);
    } else if (event.key === "Escape") {
      if (this.list.hidden) this.onClear?.();
      this.close();
    } else return;
    event.preventDefault();
  }

  choose(i) {
    const match = this.matches[i];
    if (!match) return;
    this.input.value = this.data[match.side].names[match.element];
    this.close();
    this.onChoose?.(match);
  }

  clear() { this.input.value = ""; }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
