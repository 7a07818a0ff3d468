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
