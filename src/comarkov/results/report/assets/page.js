// Elements of the page, its tooltip, sections and downloads. What comes from the data is only ever
// text, never markup.

const byId = (id) => document.getElementById(id);

const newElement = (tag, attributes, ...children) =>
  filled(document.createElement(tag), attributes, children);

// What scripts may style, the policy of the page forbids in markup: `style` is an object.
function filled(element, { style, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  Object.assign(element.style, style);
  element.append(...children);
  return element;
}

function newButton(content, onClick, attributes = {}) {
  const button = newElement("button", { type: "button", ...attributes }, ...[content].flat());
  button.addEventListener("click", onClick);
  return button;
}

// A field with choices { value: text }.
function newSelect(label, choices, onChange) {
  const select = newElement("select", { "aria-label": label },
    ...Object.entries(choices).map(([value, text]) => newElement("option", { value }, text)));
  select.addEventListener("change", () => onChange(select.value));
  return select;
}

// Text with its directional controls spelt out: inside a name they would turn what follows.
const visible = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g,
  (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`);

const visibleText = (key, value) => (typeof value === "string" ? visible(value) : value);

// What the page was made with; it is empty where scripts are tested without a page.
const about = JSON.parse(byId("about")?.textContent ?? "{}", visibleText);

// A name that is isolated from the direction of the text around it, and that text from it.
const isolated = (name) => newElement("bdi", {}, name);

// A line of a tooltip or a note; its parts are texts and isolated names.
const textLine = (kind, ...parts) => ({ kind, parts });

// All lines in one, with commas between them.
const joined = (lines) => lines.flatMap(({ parts }, i) => (i ? [", ", ...parts] : parts));

// A box beside the pointer or the cursor.
const tooltip = {
  box: byId("tip"),

  show(lines, x, y) {
    this.box.replaceChildren(
      ...lines.map(({ kind, parts }) => newElement("div", { class: kind }, ...parts)));
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const beside = (at, size, most) =>
      Math.max(4, at + 14 + size > most ? at - size - 14 : at + 14);
    this.box.style.left = `${beside(x, width, innerWidth)}px`;
    this.box.style.top = `${beside(y, height, innerHeight)}px`;
  },

  hide() { this.box.hidden = true; },
};

// After a tap no pointer leaves, so that the box stays until the next touch or scroll.
for (const kind of ["pointerdown", "scroll"]) {
  addEventListener(kind, () => tooltip.hide(), { capture: true, passive: true });
}

const SIDES = ["rows", "columns"];

const otherSide = (side) => (side === "rows" ? "columns" : "rows");

const ARROWS = {
  ArrowLeft: ["columns", -1],
  ArrowRight: ["columns", 1],
  ArrowUp: ["rows", -1],
  ArrowDown: ["rows", 1],
};

const within = (place, count) => Math.max(0, Math.min(count - 1, place));

// A link opens the section that it leads to, and marks itself while that section is in view.
function connectContents() {
  const links = [...document.querySelectorAll(".contents a")];
  const sections = links.map((link) => byId(link.hash.slice(1)));
  links.forEach((link, i) => link.addEventListener("click", () => openAround(sections[i])));
  const mark = () => {
    const top = (section) => section.getBoundingClientRect().top;
    const last = sections.findLastIndex((section) => top(section) < innerHeight / 3);
    links.forEach((link, i) => link.toggleAttribute("aria-current", i === Math.max(0, last)));
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

// Open a section, or the section that an element is in.
function openAround(element) {
  const fold = element.querySelector(":scope > details") ?? element.closest("section > details");
  if (fold) fold.open = true;
}

// On paper every section is open and nothing is selected; afterwards all is as it was.
function connectPaper(onPaper, onScreen) {
  let closed = null;
  const change = (isPaper) => {
    if (isPaper === Boolean(closed)) return;
    closed ??= [...document.querySelectorAll("section > details:not([open])")];
    closed.forEach((fold) => (fold.open = isPaper));
    if (!isPaper) closed = null;
    (isPaper ? onPaper : onScreen)();
  };
  addEventListener("beforeprint", () => change(true));
  addEventListener("afterprint", () => change(false));
  matchMedia("print").addEventListener("change", ({ matches }) => change(matches));
}

// Offer a table, or titles, as a file.
function download(name, content, type = "text/csv") {
  const href = URL.createObjectURL(new Blob([content], { type }));
  newElement("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

function connectDownloads(sections) {
  document.querySelectorAll("button.download").forEach((button) => {
    const name = button.dataset.file;
    button.addEventListener("click", () => download(name, sections.get(name)));
  });
}

// Draw again when the width of the page changes.
function onWidth(draw) {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // phones resize when their bars come and go
    width = innerWidth;
    requestAnimationFrame(draw);
  });
}

// Draw a page of networks with a colour for each cluster, and mark it as complete.
function begin(draw, colourOf = (_, cluster) => categoryColour(cluster)) {
  connectDownloads(new Map(Object.entries(about.tables)));
  const drawColoured = () => {
    known.clear();
    document.querySelectorAll(".badge").forEach(({ dataset: { type, cluster }, style }) =>
      (style.background = colourOf(+type, +cluster)));
    draw();
  };
  drawColoured();
  onWidth(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawColoured);
  document.documentElement.dataset.ready = "yes";
}
