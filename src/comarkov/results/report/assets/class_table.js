// Which colour stands for which class, with a choice of classification if there are several.
// A class that is selected is the only one in colour, so that any number of them can be explored.

class ClassLegend {
  constructor(classes, side, onChange) {
    Object.assign(this, { classes, side, onChange, box: byId(`${side}-legend`) });
    this.box.hidden = false;
  }

  draw() {
    const { classes, side } = this, facts = classes.of(side), all = classes.all(side);
    const items = facts.classes.slice(0, COLOURS).map((name, i) => this.item(name, i + 1));
    const rest = facts.classes.slice(COLOURS);
    const others = rest.length ? [this.menu(rest)] : [];
    const title = all.length > 1 ? this.choice(all) : isolated(facts.title);
    const place = this.controls.indexOf(document.activeElement);
    this.box.replaceChildren(newElement("span", { class: "what" }, title), ...items, ...others);
    this.controls[place]?.focus();
  }

  get controls() { return [...this.box.querySelectorAll("button, select")]; }

  choice(all) {
    const select = newSelect(`Classification of the ${this.side}`, all.map(({ title }) => title), (i) => {
      this.classes.shown[this.side] = +i;
      this.select(null);
    });
    select.value = this.classes.shown[this.side];
    return select;
  }

  item(name, code) {
    const isSelected = this.classes.single[this.side] === code;
    return newButton([swatch(this, code), isolated(name)], () => this.select(isSelected ? null : code),
      { class: "class", "aria-pressed": isSelected, title: `Highlight ${name}` });
  }

  // The classes without a colour of their own, to be selected one at a time.
  menu(rest) {
    const choices = { 0: `${othersText(rest.length)} …` };
    rest.forEach((name, i) => (choices[COLOURS + i + 1] = name));
    const select = newSelect(`Other classes of the ${this.side}`, choices, (code) => this.select(+code || null));
    const single = this.classes.single[this.side];
    select.value = single > COLOURS ? single : 0;
    return select;
  }

  select(code) {
    this.classes.single[this.side] = code;
    this.onChange();
  }
}

const swatch = ({ classes, side }, code) =>
  newElement("i", { class: "swatch", style: { background: classes.colourOf(side, code) } });

const othersText = (count) => `${count} other${count === 1 ? "" : "s"}`;

// --- clusters by known classes: how many members of each class, and how well the two agree.

const TABLED = 24; // classes with a column of their own, the largest

class ClassTable {
  constructor(classes, side) {
    Object.assign(this, { classes, side, data: classes.data });
    this.box = byId(`${side}-classes`);
    this.box.hidden = false;
  }

  draw() {
    const { title } = this.classes.of(this.side), { kind, clusters } = this.data[this.side];
    const heading = newElement("h3", {}, isolated(kind), ": ", isolated(title));
    if (!clusters) {
      const note = newElement("p", { class: "note" }, "This side is not clustered.");
      this.box.replaceChildren(heading, note);
      return;
    }
    const counts = this.classes.counts(this.side);
    this.box.replaceChildren(heading, this.scores(counts), this.table(counts));
  }

  scores(counts) {
    const unknown = this.unknown(counts);
    const score = (name, value, meaning) => newElement("div", {},
      newElement("dt", {}, name),
      newElement("dd", {},
        newElement("b", {}, value.toFixed(2)), " ", newElement("small", {}, meaning)));
    const note = unknown ? [newElement("p", { class: "note" },
      `${whole(unknown)} without a known class do not count.`)] : [];
    return newElement("div", { class: "scores" }, newElement("dl", {},
      score("NMI", normalizedMutualInformation(counts), "normalized mutual information"),
      score("ARI", adjustedRandIndex(counts), "adjusted Rand index"),
      score("Purity", purity(counts), "are in the largest class of their cluster")),
      ...note);
  }

  unknown(counts) { return this.data[this.side].n - sumOf(counts.flat()); }

  table(counts) {
    const { classes } = this.classes.of(this.side), rest = classes.length - TABLED;
    const names = classes.slice(0, TABLED).map((name, i) => this.heading(name, i + 1));
    if (rest > 0) names.push(newElement("th", { scope: "col" }, othersText(rest)));
    const inNone = counts.at(-1);
    const lines = counts.slice(0, -1).map((line, cluster) => this.line([
      badge(this.data, this.side, cluster), isolated(this.data.titleOf(this.side, cluster))], line));
    if (sumOf(inNone)) lines.push(this.line(["in no cluster"], inNone));
    const first = newElement("th", { scope: "col" }, "Cluster");
    const box = { class: "scroll", tabindex: "0", role: "group", "aria-label": "Clusters by classes" };
    return newElement("div", box, newElement("table", { class: "class-table" },
      newElement("thead", {}, newElement("tr", {}, first, ...names)),
      newElement("tbody", {}, ...lines)));
  }

  heading(name, code) {
    return newElement("th", { scope: "col", title: name }, swatch(this, code), isolated(name));
  }

  line(heading, counts) {
    const rest = sumOf(counts.slice(TABLED)), total = sumOf(counts);
    const cells = counts.length > TABLED ? [...counts.slice(0, TABLED), rest] : counts;
    return newElement("tr", {}, newElement("th", { scope: "row" }, ...heading),
      ...cells.map((count) => this.cell(count, total)));
  }

  // Shaded by the share of its class in the cluster.
  cell(count, total) {
    if (!count) return newElement("td", {});
    const shade = cellScale()(Math.sqrt(count / total));
    return newElement("td", { title: `${percentText(count / total)} of the cluster`,
      style: { background: css(shade), color: inkOn(shade) } }, whole(count));
  }
}
