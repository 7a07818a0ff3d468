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
