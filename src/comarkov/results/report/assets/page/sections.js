// Sections that fold, the table of contents, and what changes on paper.

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

// What is long, and not what a reader looks for first, is folded on a phone.
function foldOnPhones() {
  if (!matchMedia("(max-width: 640px)").matches) return;
  document.querySelectorAll("details.phone-fold").forEach((fold) => (fold.open = false));
}

// Is an element there, and not folded away?
const isOpen = (element) => Boolean(element) && !element.closest("details:not([open])");

// Open a section, or the section that an element is in.
function openAround(element) {
  const fold = element.querySelector(":scope > details") ?? element.closest("section > details");
  if (fold) fold.open = true;
}

// On paper every section is open and nothing is selected; afterwards all is as it was.
function connectPaper(onPaper, onScreen) {
  const paper = matchMedia("print");
  let closed = null;
  const before = () => {
    if (closed) return;
    const folds = "section > details:not([open]), .phone-fold:not([open])";
    closed = [...document.querySelectorAll(folds)];
    closed.forEach((fold) => (fold.open = true));
    onPaper();
  };
  const after = () => {
    closed?.forEach((fold) => (fold.open = false));
    closed = null;
    onScreen();
  };
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  paper.addEventListener("change", () => (paper.matches ? before() : after()));
}
