// The search box: an accessible combobox over the names of rows and columns.

const MATCHES = 12;

// Names that begin with the words come first, then those that have them inside; the shortest
// first, which is the name that was asked for if there is one, then the most typical.
const better = (a, b) => a.inside - b.inside || a.length - b.length || a.rank - b.rank;
const afterEquals = d3.bisector(better).right;

class Search {
  constructor(input, list, data, view) {
    this.input = input;
    this.list = list;
    this.data = data;
    this.view = view; // what is shown when it is called
    this.found = [];
    this.active = -1;
    input.addEventListener("input", () => this.look());
    input.addEventListener("focus", () => this.look());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => setTimeout(() => this.close(), 120));
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the input keeps the focus
      const item = event.target.closest("[role=option]");
      if (item) this.choose([...list.children].indexOf(item));
    });
  }

  // The best of both sides, the best of all first. Neither side crowds the other out.
  matches(words) {
    const [rows, columns] = ["rows", "columns"].map((side) => this.best(side, words));
    const room = (other) => Math.max(MATCHES / 2, MATCHES - other.length);
    return [...rows.slice(0, room(columns)), ...columns.slice(0, room(rows))].sort(better);
  }

  best(side, words) {
    const facts = this.data[side], best = [];
    facts.lower ??= facts.names.map((name) => name.trim().toLowerCase());
    facts.lower.forEach((name, element) => {
      const at = name.indexOf(words);
      if (at < 0) return;
      const rank = +facts.rank[element] || facts.n + 1; // in no cluster: last
      const match = { side, element, inside: at > 0, length: name.length, rank };
      if (best.length === MATCHES && better(best[MATCHES - 1], match) <= 0) return;
      best.splice(afterEquals(best, match), 0, match);
      best.length = Math.min(best.length, MATCHES);
    });
    return best;
  }

  look() {
    const words = visible(this.input.value).trim().toLowerCase();
    this.found = words ? this.matches(words) : [];
    this.active = this.found.length ? 0 : -1;
    this.list.replaceChildren(...this.found.map((match, i) => this.item(match, i)));
    if (words && !this.found.length) {
      const none = document.createElement("li");
      none.className = "none";
      none.textContent = "Nothing has this name.";
      this.list.append(none);
    }
    this.list.hidden = !words;
    this.input.setAttribute("aria-expanded", String(Boolean(words)));
    this.mark();
  }

  item({ side, element }, i) {
    const facts = this.data[side];
    const line = document.createElement("li");
    line.id = `match-${i}`;
    line.setAttribute("role", "option");
    const where = document.createElement("small");
    const cluster = this.view()[side].label[element];
    where.textContent = facts.clusters ? `${facts.kind} · ${cluster < 0 ? "no cluster" : `cluster ${cluster}`}` : facts.kind;
    line.append(apart(facts.names[element]), where);
    return line;
  }

  mark() {
    [...this.list.children].forEach((line, i) =>
      line.getAttribute("role") && line.setAttribute("aria-selected", String(i === this.active)));
    if (this.active >= 0) {
      this.input.setAttribute("aria-activedescendant", `match-${this.active}`);
      this.list.children[this.active].scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.found.length) {
      this.active = (this.active + step + this.found.length) % this.found.length;
      this.mark();
    } else if (event.key === "Enter" && this.active >= 0 && !this.list.hidden) {
      this.choose(this.active);
    } else if (event.key === "Escape") {
      if (this.list.hidden) { this.input.value = ""; this.onClear?.(); }
      this.close();
    } else return;
    event.preventDefault();
  }

  choose(i) {
    const match = this.found[i];
    if (!match) return;
    this.input.value = this.data[match.side].names[match.element];
    this.close();
    this.onChoose?.(match);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
