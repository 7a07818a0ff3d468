// Titles of clusters that the reader has changed, by side and node of the tree. They stay in this
// browser, if it lets pages store something.

class EditedTitles {
  constructor(key) {
    this.key = `comarkov titles ${key}`;
    this.isStored = true;
    this.titles = this.read();
  }

  read() {
    try {
      const stored = JSON.parse(localStorage.getItem(this.key)) ?? {};
      return { rows: { ...stored.rows }, columns: { ...stored.columns } };
    } catch {
      return { rows: {}, columns: {} };
    }
  }

  get isEmpty() {
    return !Object.keys(this.titles.rows).length && !Object.keys(this.titles.columns).length;
  }

  of(side, node) {
    const title = this.titles[side][node];
    return typeof title === "string" ? visible(title) : undefined;
  }

  // No title, or an empty one, brings back the computed title.
  set(side, node, title) {
    if (title) this.titles[side][node] = title;
    else delete this.titles[side][node];
    this.store();
  }

  reset() {
    this.titles = { rows: {}, columns: {} };
    this.store();
  }

  store() {
    try {
      if (this.isEmpty) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, JSON.stringify(this.titles));
    } catch {
      this.isStored = false; // a private window, a full disk, or a policy of the browser
    }
  }
}

// --- the title of a card: a button that becomes a text field ---

const LONGEST_TITLE = 120; // letters

function titleButton(title, onChange) {
  const attributes = { type: "button", class: "title", title: "Click to edit this title" };
  const button = newElement("button", attributes, isolated(title));
  button.addEventListener("click", () => editTitle(button, title, onChange));
  return button;
}

// The number of a cluster on its colour, which depends on the level, and on whether the page is dark.
function badge(data, side, cluster) {
  const mark = newElement("span", { class: "badge", "data-side": side, "data-cluster": cluster }, String(cluster));
  mark.style.background = data.clusterColour(side, cluster);
  return mark;
}

const recolourBadges = (data) => document.querySelectorAll(".badge[data-side]").forEach(({ dataset, style }) =>
  (style.background = data.clusterColour(dataset.side, +dataset.cluster)));

// Titles in the sentences that open the report, which describe the clusters of the fit.
function renewTitlesInSentences(data) {
  document.querySelectorAll(".cluster-title").forEach((box) => {
    const { side, cluster } = box.dataset;
    const nodes = data[side].tree?.nodesAt(data.fitLevel[side]);
    if (nodes) box.textContent = data.titleOfNode(side, nodes[cluster]);
  });
}

// Enter and leaving the field keep what was typed, Escape keeps the title as it was.
function editTitle(button, title, onChange) {
  const input = newElement("input", { type: "text", class: "title", "aria-label": "Title",
    maxlength: LONGEST_TITLE, value: title });
  let isDone = false;
  const finish = (text) => {
    if (isDone) return; // to remove the field is to leave it
    isDone = true;
    const changed = text.trim() !== title;
    input.replaceWith(button);
    if (changed) onChange(visible(text.trim()));
  };
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    finish(event.key === "Enter" ? input.value : title);
    if (button.isConnected) button.focus();
  });
  input.addEventListener("blur", () => finish(input.value));
  button.replaceWith(input);
  input.focus();
  input.select();
}
