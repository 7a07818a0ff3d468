// Coarser and finer clusters: sliders along the trees, and what is shown in words.

class Levels {
  constructor(data) {
    this.data = data;
    this.sides = SIDES.filter((side) => byId(`${side}-level`));
    for (const side of this.sides) this.connect(side);
    byId("back-to-fit")?.addEventListener("click", () => data.setLevel(data.fitLevel));
    document.querySelectorAll("button.level-file").forEach((button) =>
      button.addEventListener("click", () =>
        download(`${button.dataset.side}.csv`, levelCsv(data, button.dataset.side))));
  }

  connect(side) {
    const set = (number) => this.data.setLevel({ [side]: number });
    const step = (change) => set(this.data.level[side] + change);
    byId(`${side}-level`).addEventListener("input", (event) => set(+event.target.value));
    byId(`${side}-fewer`).addEventListener("click", () => step(-1));
    byId(`${side}-more`).addEventListener("click", () => step(1));
    const mark = byId(`${side}-suggested`);
    if (!mark) return;
    const number = +mark.dataset.number, share = (number - 1) / (this.data[side].tree.leaves - 1);
    mark.style.left = `calc(8px + ${share} * (100% - 16px))`; // the middle of the thumb is there
    mark.addEventListener("click", () => set(number));
  }

  describe() {
    const { data } = this;
    for (const side of this.sides) this.describeSide(side);
    document.querySelectorAll(".at-fit").forEach((box) => (box.hidden = !data.isFitLevel));
    document.querySelectorAll(".off-fit").forEach((box) => (box.hidden = data.isFitLevel));
    this.describeLead();
    if (!this.sides.length) return;
    byId("level-note").textContent = this.note();
    byId("keep-level").hidden = byId("cut-note").hidden = data.isFitLevel;
    byId("cut-command").textContent = cutCommand(data);
  }

  // The sentence that opens the page, of what is shown.
  describeLead() {
    for (const side of SIDES) {
      const box = byId(`${side}-now`);
      if (box) box.textContent = clusterCount(this.data.level[side]);
    }
    byId("shown-now").textContent = this.data.isFitLevel ? "" : "cut from the fit";
  }

  describeSide(side) {
    const { level, fitLevel } = this.data, k = level[side], { leaves } = this.data[side].tree;
    const slider = byId(`${side}-level`), isFit = k === fitLevel[side];
    slider.value = k;
    slider.setAttribute("aria-valuetext", `${clusterCount(k)}${isFit ? ", the fit" : ""}`);
    byId(`${side}-level-now`).textContent = whole(k);
    byId(`${side}-level-noun`).textContent = clusterNoun(k);
    byId(`${side}-fewer`).disabled = k === 1;
    byId(`${side}-more`).disabled = k === leaves;
    byId(`${side}-next`).replaceChildren(...this.nextMerge(side));
  }

  // What one cluster fewer would merge, and what that costs.
  nextMerge(side) {
    const { tree } = this.data[side], k = this.data.level[side];
    if (k === 1) return [];
    const [one, other] = tree.merges[tree.leaves - k].map((node) =>
      quotedTitle(this.data.titleOfNode(side, node)));
    const cost = this.data.costAt({ [side]: k - 1 }) - this.data.view.cost;
    return ["Next merge: ", ...one, " + ", ...other, ` (−${bitsText(Math.max(0, cost))} bits)`];
  }

  counts(level) {
    return SIDES.filter((side) => level[side])
      .map((side) => clusterCount(level[side], this.data[side].kind)).join(" × ");
  }

  note() {
    const { data } = this, { fit } = about;
    if (data.isFitLevel) return `This is the fit: ${this.counts(data.fitLevel)}.`;
    return `${this.counts(data.level)}, cut from the tree of the fit (${this.counts(data.fitLevel)}, `
      + `which keeps ${percentText(fit.kept)} of the information).`;
  }
}

const clusterNoun = (count) => (count === 1 ? "cluster" : "clusters");

const clusterCount = (count, kind = "") =>
  `${whole(count)} ${kind ? `${kind} ` : ""}${clusterNoun(count)}`;

// A title in quotes, unless it is only a number.
const quotedTitle = (title) =>
  (/^cluster \d+$/.test(title) ? [isolated(title)] : ["“", isolated(title), "”"]);

// --- the level that is shown, as files and as a command.

// The table of a side at the level that is shown. What is known of the fit only is left empty.
function levelCsv(data, side) {
  const { from } = data[side], { label } = data.view[side], place = inverse(from);
  const [header, ...stored] = readCsv(textOf(data.sections.get(`${side}.csv`)));
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = stored.map(([name, , , , , ...known], i) => {
    const cluster = label[place[i]];
    const title = cluster < 0 ? "" : data.titleOf(side, cluster);
    return [name, String(cluster < 0 ? -1 : cluster + 1), "", "", title, ...known].map(quoted).join(",");
  });
  return [header.map(quoted).join(","), ...lines, ""].join("\n");
}

const quotedForShell = (name) => (/^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

// The command is to be run beside the folder of this page; FOLDER where the page cannot know it.
function cutCommand(data) {
  const path = decodeURIComponent(location.pathname).split("/");
  const folder = location.protocol === "file:" ? path.at(-2) : "FOLDER", { rows, columns } = data.level;
  const numbers = [["-k", rows], ["-l", columns]].filter(([, number]) => number);
  const out = `${folder}-${numbers.map(([, number]) => number).join("x")}`;
  const options = numbers.map(([name, number]) => `${name} ${number}`).join(" ");
  return `comarkov cut ${quotedForShell(folder)} ${options} -o ${quotedForShell(out)}`;
}

// The key figures of what is shown.
function describeFigures({ beta, cost, kept }) {
  byId("beta-now").textContent = short(beta);
  byId("kept").textContent = percentText(kept);
  byId("cost").textContent = bitsText(cost);
  byId("bits").textContent = bitsText(kept * about.information);
}

// --- the strongest blocks of a level that is not the fit, as the page has them for the fit.

const FINDINGS = 3;

class LevelFindings {
  constructor(data) {
    this.data = data;
    this.list = byId("findings");
    this.ofFit = [...this.list?.children ?? []];
  }

  draw() {
    this.list?.replaceChildren(...(this.data.isFitLevel ? this.ofFit : this.strongest().map((block) => this.item(block))));
  }

  // Blocks by their part of the information.
  strongest() {
    const { share, expected, shape: [, wide] } = this.data.view, bits = ({ mass, lift }) => mass * Math.log2(lift);
    const blocks = Array.from(share, (mass, i) => ({ mass, lift: expected[i] > 0 ? mass / expected[i] : 1,
      rows: Math.floor(i / wide), columns: i % wide })).filter(({ lift }) => isInformative(lift));
    return blocks.sort((a, b) => bits(b) - bits(a)).slice(0, FINDINGS);
  }

  item({ mass, lift, ...block }) {
    const names = SIDES.flatMap((side, i) => {
      const { clusters, shown, names: all, from } = this.data[side];
      const name = clusters ? this.data.titleOf(side, block[side]) : all[from.indexOf(shown[block[side]])];
      return [i ? " × " : "", ...(clusters ? [badge(this.data, side, block[side]), " "] : []), isolated(name)];
    });
    return newElement("li", { class: "finding" }, newElement("b", { class: "times" }, liftText(lift)),
      newElement("p", {}, ...names),
      newElement("p", { class: "note" }, `${liftText(lift).slice(1)} times as much weight as expected, ${percentText(mass)} of the total.`));
  }
}
