// Titles of clusters that the reader has changed, by side and node of the tree. They stay in this
// browser, if it lets pages store something.

class EditedTitles {
  constructor(key) {
    this.key = `comarkov titles ${key}`;
    this.isStored = true;
    try {
      this.titles = { ...JSON.parse(localStorage.getItem(this.key)) };
    } catch {
      this.titles = {};
    }
  }

  get isEmpty() { return !Object.keys(this.titles).length; }

  of(side, node) {
    const title = this.titles[`${side} ${node}`];
    return typeof title === "string" ? visible(title) : undefined;
  }

  // No title, or an empty one, brings back the computed title.
  set(side, node, title) {
    this.store({ ...this.titles, [`${side} ${node}`]: title || undefined });
  }

  reset() { this.store({}); }

  store(titles) {
    const text = JSON.stringify(titles); // without those that are undefined
    this.titles = JSON.parse(text);
    try {
      if (this.isEmpty) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, text);
    } catch {
      this.isStored = false; // a private window, a full disk, or a policy of the browser
    }
  }
}

// --- the title of a card: a button that becomes a text field ---

const LONGEST_TITLE = 120; // letters

function titleButton(title, onChange) {
  const button = newButton(isolated(title), () => editTitle(button, title, onChange),
    { class: "title", title: "Click to edit this title" });
  return button;
}

// The number of a cluster on its colour, which depends on the level, and on whether the page is dark.
const badge = (data, side, cluster) => newElement("span", { class: "badge", "data-side": side,
  "data-cluster": cluster, style: { background: data.clusterColour(side, cluster) } }, String(cluster + 1));

const recolourBadges = (data) => document.querySelectorAll(".badge[data-side]").forEach(({ dataset, style }) =>
  (style.background = data.clusterColour(dataset.side, +dataset.cluster)));

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
