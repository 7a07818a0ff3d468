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
    const select = newElement("select", { "aria-label": `Classification of the ${this.side}` },
      ...all.map(({ title }, i) => newElement("option", { value: i }, title)));
    select.value = this.classes.shown[this.side];
    select.addEventListener("change", () => {
      this.classes.shown[this.side] = +select.value;
      this.select(null);
    });
    return select;
  }

  item(name, code) {
    const isSelected = this.classes.single[this.side] === code;
    const swatch = newElement("i", { class: "swatch" });
    swatch.style.background = this.classes.colourOf(this.side, code);
    const button = newElement("button",
      { type: "button", class: "class", "aria-pressed": isSelected, title: `Highlight ${name}` },
      swatch, isolated(name));
    button.addEventListener("click", () => this.select(isSelected ? null : code));
    return button;
  }

  // The classes without a colour of their own, to be selected one at a time.
  menu(rest) {
    const options = rest.map((name, i) => newElement("option", { value: COLOURS + i + 1 }, name));
    const none = newElement("option", { value: "" }, `${othersText(rest.length)} …`);
    const select = newElement("select", { "aria-label": `Other classes of the ${this.side}` },
      none, ...options);
    const single = this.classes.single[this.side];
    select.value = single > COLOURS ? single : "";
    select.addEventListener("change", () => this.select(+select.value || null));
    return select;
  }

  select(code) {
    this.classes.single[this.side] = code;
    this.onChange();
  }
}

const othersText = (count) => `${count} other${count === 1 ? "" : "s"}`;
