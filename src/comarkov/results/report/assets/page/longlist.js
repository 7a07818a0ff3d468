// A long list, of which only the lines in view are in the page. All lines have the same height.

const BEYOND = 6; // lines that are drawn above and below those in view

class LongList {
  constructor(label, drawLine) {
    this.drawLine = drawLine;
    this.list = newElement("ol", { role: "list" });
    this.box = newElement("div",
      { class: "long", tabindex: "0", role: "group", "aria-label": label }, this.list);
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
  }

  show(items) {
    this.items = items;
    this.list.style.height = "0";
    this.lines = new Map(); // from place to element
    this.list.replaceChildren();
    this.box.scrollTop = 0;
    this.draw();
  }

  draw() {
    if (!this.items.length) return;
    if (!this.lines.size) this.list.append(this.line(0)); // to know how high a line is
    const height = this.lines.values().next().value.offsetHeight || 32;
    this.list.style.height = `${this.items.length * height}px`;
    const { scrollTop, clientHeight } = this.box;
    const first = Math.floor(scrollTop / height) - BEYOND;
    const last = Math.ceil((scrollTop + clientHeight) / height) + BEYOND;
    this.drawBetween(Math.max(0, first), Math.min(this.items.length, last), height);
  }

  // Lines that stay in view stay in the page, so that they keep the focus.
  drawBetween(first, last, height) {
    for (const [place, line] of this.lines) {
      if (place >= first && place < last) continue;
      line.remove();
      this.lines.delete(place);
    }
    let before = this.list.firstChild;
    for (let place = first; place < last; place++) {
      const isNew = !this.lines.has(place), line = this.line(place);
      if (isNew) this.list.insertBefore(line, before);
      line.style.top = `${place * height}px`;
      before = line.nextSibling;
    }
  }

  line(place) {
    if (!this.lines.has(place)) {
      const attributes = { "aria-setsize": this.items.length, "aria-posinset": place + 1 };
      this.lines.set(place,
        newElement("li", attributes, ...this.drawLine(this.items[place], place)));
    }
    return this.lines.get(place);
  }
}
