// A map of the elements of one side: a dot for each, in the colour of its cluster.

const NO_PLACE = 4095; // of an element without mass
const REACH = 14; // pixels from the pointer within which a dot is named

class ElementMap {
  constructor(canvas, data, side) {
    Object.assign(this, { canvas, data, side });
    this.steps = new Uint16Array(data.sections.get(`${side} map`).slice().buffer);
    this.range = [0, 1].map((axis) => this.rangeOf(axis)); // of both axes, in the same unit
    this.lit = null; // { side, cluster, element } that is highlighted
    this.legend = byId(`${side}-map-legend`);
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerleave", () => tooltip.hide());
    canvas.addEventListener("click", (event) => this.choose(event));
  }

  get count() { return this.steps.length / 2; }

  rangeOf(axis) {
    const steps = this.steps.filter((step, i) => i % 2 === axis && step < NO_PLACE);
    return steps.reduce((most, step) => Math.max(most, step), 1);
  }

  draw() {
    const width = this.canvas.parentElement.clientWidth, edge = 26;
    const shape = this.range[1] / this.range[0] * width + 2 * edge;
    const height = Math.max(220, Math.min(width * 0.72, innerHeight * 0.6, shape));
    const { pen } = fitted(this.canvas, height);
    const [wide, high] = [width - 2 * edge, height - 2 * edge];
    const unit = Math.min(wide / this.range[0], high / this.range[1]); // the same both ways
    this.left = edge + (wide - unit * this.range[0]) / 2;
    this.bottom = height - edge - (high - unit * this.range[1]) / 2;
    this.unit = unit;
    this.drawDots(pen);
    this.drawLegend();
  }

  // Where an element is drawn, or null if it has no place.
  pixel(element) {
    const [x, y] = this.steps.subarray(2 * element, 2 * element + 2);
    return x === NO_PLACE ? null : [this.left + x * this.unit, this.bottom - y * this.unit];
  }

  groupOf(element) {
    const { label } = this.data.view[this.side];
    return this.data[this.side].clusters ? label[element] : 0;
  }

  drawDots(pen) {
    const radius = Math.max(1.5, Math.min(5, 70 / Math.sqrt(this.count)));
    const colours = new Map();
    for (let element = this.count - 1; element >= 0; element--) { // the most typical on top
      const place = this.pixel(element), group = this.groupOf(element);
      if (!place || group < 0) continue;
      if (!colours.has(group)) colours.set(group, this.data.clusterColour(this.side, group));
      const isFaint = this.lit?.side === this.side && this.lit.cluster !== group;
      pen.globalAlpha = isFaint ? 0.15 : 0.8;
      pen.fillStyle = colours.get(group);
      pen.beginPath();
      pen.arc(...place, radius, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
    const place = this.lit?.side === this.side && this.lit.element !== undefined
      && this.pixel(this.lit.element);
    if (!place) return;
    Object.assign(pen, { strokeStyle: colour("--accent"), lineWidth: 2.5 });
    pen.beginPath();
    pen.arc(...place, radius + 3, 0, 2 * Math.PI);
    pen.stroke();
  }

  // The colours of clusters with their titles, which light the cluster.
  drawLegend() {
    this.legend?.replaceChildren(...Array.from({ length: this.data.level[this.side] ?? 0 }, (_, cluster) => {
      const content = [badge(this.data, this.side, cluster), isolated(this.data.titleOf(this.side, cluster))];
      return newButton(content, () => this.onCluster?.(this.side, cluster));
    }));
  }

  nearest(event) {
    const corner = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - corner.left, event.clientY - corner.top];
    let best = null, least = REACH ** 2;
    for (let element = 0; element < this.count; element++) {
      const place = this.pixel(element);
      const distance = place ? (place[0] - x) ** 2 + (place[1] - y) ** 2 : Infinity;
      if (distance < least) [best, least] = [element, distance];
    }
    return best;
  }

  onMove(event) {
    const element = this.nearest(event);
    this.canvas.style.cursor = element === null ? "default" : "pointer";
    if (element === null) return tooltip.hide();
    const { names, clusters } = this.data[this.side], group = this.groupOf(element);
    const lines = [textLine("strong", isolated(names[element]))];
    if (clusters && group >= 0) {
      lines.push(textLine("soft", "in ", isolated(this.data.titleOf(this.side, group))));
    }
    tooltip.show(lines, event.clientX, event.clientY);
  }

  choose(event) {
    const element = this.nearest(event);
    if (element !== null) this.onChoose?.({ side: this.side, element });
  }
}
