// Moving about the heatmap: wheel, drag, pinch, buttons and keys.

function clampSpan(from, to, count, pixels) {
  const least = Math.min(count, Math.max(1, pixels / LARGEST));
  const span = Math.min(count, Math.max(least, to - from));
  const middle = (from + to) / 2;
  const start = Math.max(0, Math.min(count - span, middle - span / 2));
  return [start, start + span];
}

class Navigation {
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.pointers = new Map();
    const { canvas } = heatmap;
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("pointercancel", (event) => this.onUp(event));
    canvas.addEventListener("pointerleave", () => tip.hide());
    canvas.addEventListener("dblclick", (event) => this.zoom(2.5, ...this.local(event)));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("blur", () => { tip.hide(); });
    this.setTouch();
  }

  local(event) {
    const box = this.heatmap.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  get isWhole() {
    const { x0, x1, y0, y1 } = this.heatmap.window;
    return x1 - x0 >= this.heatmap.data.columns.n && y1 - y0 >= this.heatmap.data.rows.n;
  }

  // Show a part of the matrix, as far as it can be shown.
  show(x0, x1, y0, y1) {
    const { data, box } = this.heatmap;
    const [a, b] = clampSpan(x0, x1, data.columns.n, box.width);
    const [c, d] = clampSpan(y0, y1, data.rows.n, box.height);
    this.heatmap.window = { x0: a, x1: b, y0: c, y1: d };
    this.setTouch();
    this.heatmap.later();
  }

  // A finger scrolls the page while all is shown, and moves the matrix when it is not.
  setTouch() { this.heatmap.canvas.style.touchAction = this.isWhole ? "pan-y" : "none"; }

  zoom(factor, x, y) {
    const { box, window, data } = this.heatmap;
    const along = (from, to, count, share, pixels) => {
      const [a, b] = clampSpan(0, (to - from) / factor, count, pixels);
      const start = from + (to - from - (b - a)) * share; // what is under the pointer stays there
      return [start, start + (b - a)];
    };
    const share = (at, start, length) => Math.max(0, Math.min(1, (at - start) / length));
    const xs = along(window.x0, window.x1, data.columns.n, share(x, box.left, box.width), box.width);
    const ys = along(window.y0, window.y1, data.rows.n, share(y, box.top, box.height), box.height);
    this.show(...xs, ...ys);
  }

  zoomMiddle(factor) {
    const { box, cursor } = this.heatmap;
    if (cursor) this.zoom(factor, this.heatmap.x(cursor.column), this.heatmap.y(cursor.row));
    else this.zoom(factor, box.left + box.width / 2, box.top + box.height / 2);
  }

  all() { this.show(0, this.heatmap.data.columns.n, 0, this.heatmap.data.rows.n); }

  move(dx, dy) { // pixels
    const { box, window } = this.heatmap;
    const x = -dx / box.width * (window.x1 - window.x0);
    const y = -dy / box.height * (window.y1 - window.y0);
    this.show(window.x0 + x, window.x1 + x, window.y0 + y, window.y1 + y);
  }

  onWheel(event) {
    const out = event.deltaY > 0;
    if (out && this.isWhole) return; // there is nothing to zoom out of: let the page scroll
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 0.05 : event.deltaMode ? 1 : 0.002;
    const delta = Math.max(-1, Math.min(1, -event.deltaY * unit * (event.ctrlKey ? 5 : 1)));
    this.zoom(2 ** (2 * delta), ...this.local(event));
    tip.hide();
  }

  onDown(event) {
    this.pointers.set(event.pointerId, this.local(event));
    if (event.pointerType === "mouse" || !this.isWhole || this.pointers.size > 1) {
      this.heatmap.canvas.setPointerCapture(event.pointerId);
    }
    this.dragged = false;
    this.heatmap.cursor = null;
  }

  onMove(event) {
    const now = this.local(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(event, now);
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers].find(([id]) => id !== event.pointerId).slice(1);
      const far = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      this.zoom(far(now) / far(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      this.dragged = true;
    } else if (this.pointers.size === 1 && !this.isWhole) {
      this.dragged ||= Math.hypot(now[0] - before[0], now[1] - before[1]) > 3;
      if (!this.dragged) return;
      this.move(now[0] - before[0], now[1] - before[1]);
    }
    tip.hide();
    this.pointers.set(event.pointerId, now);
  }

  onUp(event) {
    this.pointers.delete(event.pointerId);
    if (!this.dragged && event.type === "pointerup") this.hover(event, this.local(event));
  }

  hover(event, [x, y]) {
    const place = this.heatmap.under(x, y);
    if (place) tip.show(this.heatmap.describe(place), event.clientX, event.clientY);
    else tip.hide();
  }

  onKey(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) this.step(...steps[event.key], event.shiftKey ? 10 : 1);
    else if (event.key === "+" || event.key === "=") this.zoomMiddle(1.6);
    else if (event.key === "-" || event.key === "_") this.zoomMiddle(1 / 1.6);
    else if (event.key === "0" || event.key === "Home") this.all();
    else if (event.key === "Escape") { this.heatmap.cursor = null; this.onClear?.(); this.heatmap.later(); }
    else return;
    event.preventDefault();
  }

  // Move the cursor by a cell, or by some pixels where cells are smaller; the window follows.
  step(dx, dy, times) {
    const { heatmap } = this, { data, window } = heatmap;
    const by = (size) => times * Math.max(1, Math.round(8 / size));
    const inside = (value, count) => Math.max(0, Math.min(count - 1, value));
    const cursor = heatmap.cursor ?? {
      row: Math.floor((window.y0 + window.y1) / 2), column: Math.floor((window.x0 + window.x1) / 2) };
    heatmap.cursor = {
      row: inside(cursor.row + dy * by(heatmap.cellHeight), data.rows.n),
      column: inside(cursor.column + dx * by(heatmap.cellWidth), data.columns.n),
    };
    const follow = (at, from, to) => (at < from ? at - from : at + 1 > to ? at + 1 - to : 0);
    const x = follow(heatmap.cursor.column, window.x0, window.x1);
    const y = follow(heatmap.cursor.row, window.y0, window.y1);
    this.show(window.x0 + x, window.x1 + x, window.y0 + y, window.y1 + y);
    const corner = heatmap.canvas.getBoundingClientRect();
    tip.show(heatmap.describe(heatmap.cursor),
      corner.left + heatmap.x(heatmap.cursor.column), corner.top + heatmap.y(heatmap.cursor.row));
    this.onTell?.(heatmap.describe(heatmap.cursor));
  }
}
