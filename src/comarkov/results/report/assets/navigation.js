// Moving about the heatmap: wheel, drag, pinch, double click, buttons and keys.

const STEP = 1.6; // the zoom of a button or a key
const STILL = 3; // pixels that a pointer may move and still not drag

class Navigation {
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.pointers = new Map(); // where each finger, or the mouse, is held down
    const { canvas } = heatmap;
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("pointercancel", (event) => this.onUp(event));
    canvas.addEventListener("pointerleave", (event) => this.onLeave(event));
    canvas.addEventListener("dblclick", (event) => this.zoom(2.5, this.point(event)));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("blur", () => tooltip.hide());
    this.setTouch();
  }

  // Change what the heatmap shows, by a function of a side and of its name.
  change(how) {
    for (const [side, span] of Object.entries(this.heatmap.spans)) how(span, side);
    this.setTouch();
    this.heatmap.drawLater();
  }

  // A finger scrolls the page while all is shown, and moves the matrix when it is not.
  setTouch() {
    this.heatmap.canvas.style.touchAction = this.heatmap.isWhole ? "pan-y" : "none";
  }

  // Show these places of each side; a side that is not named stays as it is.
  show(places) { this.change((span, side) => places[side] && span.show(...places[side])); }

  showAll() { this.change((span) => span.showAll()); }

  zoom(factor, [x, y]) {
    this.change((span, side) => span.zoom(factor, side === "rows" ? y : x));
  }

  move(x, y) { this.change((span, side) => span.move(side === "rows" ? y : x)); }

  // Zoom about the cursor or, without one, about the middle.
  zoomBy(factor) {
    const { cursor } = this.heatmap;
    this.change((span, side) =>
      span.zoom(factor, cursor ? span.pixel(cursor[side]) : span.start + span.length / 2));
  }

  point(event) {
    const box = this.heatmap.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // Where there is nothing to zoom, the wheel scrolls the page.
  onWheel(event) {
    const wasWhole = this.heatmap.isWhole;
    if (wasWhole && event.deltaY >= 0) return;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 0.05 : event.deltaMode ? 1 : 0.002;
    const turn = -event.deltaY * unit * (event.ctrlKey ? 5 : 1);
    this.zoom(4 ** Math.max(-1, Math.min(1, turn)), this.point(event));
    tooltip.hide();
    if (!wasWhole || !this.heatmap.isWhole) event.preventDefault();
  }

  onDown(event) {
    this.pointers.set(event.pointerId, this.point(event));
    if (event.pointerType === "mouse" || !this.heatmap.isWhole || this.pointers.size > 1) {
      this.heatmap.canvas.setPointerCapture(event.pointerId);
    }
    this.isDragging = false;
    this.heatmap.cursor = null;
  }

  onMove(event) {
    const now = this.point(event), before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(event);
      return;
    }
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, now);
    else if (this.pointers.size === 1 && !this.heatmap.isWhole && !this.drag(before, now)) return;
    tooltip.hide();
    this.pointers.set(event.pointerId, now);
  }

  // The matrix follows the middle of two fingers, and grows as they part.
  pinch(id, before, now) {
    const [, other] = [...this.pointers].find(([each]) => each !== id);
    const distance = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
    this.move((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.zoom(distance(now) / distance(before), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
    this.isDragging = true;
  }

  // False as long as the pointer is still.
  drag(before, now) {
    const [x, y] = [now[0] - before[0], now[1] - before[1]];
    if (!this.isDragging && Math.hypot(x, y) <= STILL) return false;
    this.isDragging = true;
    this.move(x, y);
    return true;
  }

  onUp(event) {
    this.pointers.delete(event.pointerId);
    if (!this.isDragging && event.type === "pointerup") this.hover(event);
  }

  // A finger that is lifted leaves too, just when its tap has shown the tooltip.
  onLeave(event) { if (event.pointerType === "mouse") tooltip.hide(); }

  hover(event) {
    const places = this.heatmap.under(this.point(event));
    if (places) tooltip.show(this.heatmap.describe(places), event.clientX, event.clientY);
    else tooltip.hide();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      "+": () => this.zoomBy(STEP),
      "=": () => this.zoomBy(STEP),
      "-": () => this.zoomBy(1 / STEP),
      _: () => this.zoomBy(1 / STEP),
      0: () => this.showAll(),
      Home: () => this.showAll(),
      Escape: () => this.clear(),
    };
    if (ARROWS[event.key]) this.step(...ARROWS[event.key], event.shiftKey ? 10 : 1);
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  }

  clear() {
    this.heatmap.cursor = null;
    this.onClear?.();
    this.heatmap.drawLater();
  }

  // Move the cursor by cells or, where they are smaller, by some pixels; the view follows it.
  step(side, direction, times) {
    const { heatmap } = this, { spans } = heatmap;
    const middle = ({ from, to }) => Math.floor((from + to) / 2);
    const cursor = heatmap.cursor ?? { rows: middle(spans.rows), columns: middle(spans.columns) };
    const cells = times * Math.max(1, Math.round(8 / spans[side].cell));
    const place = within(cursor[side] + direction * cells, spans[side].count);
    heatmap.cursor = { ...cursor, [side]: place };
    this.change((span, name) => span.reveal(heatmap.cursor[name]));
    const { left, top } = heatmap.canvas.getBoundingClientRect();
    const x = left + spans.columns.pixel(heatmap.cursor.columns);
    const y = top + spans.rows.pixel(heatmap.cursor.rows);
    tooltip.show(heatmap.describe(heatmap.cursor), x, y);
    this.onStep?.(heatmap.describe(heatmap.cursor));
  }
}
