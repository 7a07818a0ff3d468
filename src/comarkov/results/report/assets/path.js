// The path over β: a slider, key figures and curves of the view that is shown.

class Path {
  constructor(data) {
    this.data = data;
    byId("beta").addEventListener("input", (event) => data.setBeta(+event.target.value));
    this.describe();
  }

  describe() {
    const { beta, is_fit: isFit } = about.views[this.data.shown];
    byId("beta").value = this.data.shown;
    byId("beta").setAttribute("aria-valuetext", short(beta) + (isFit ? ", the fit" : ""));
    byId("beta-name").textContent = `= ${short(beta)}${isFit ? " (the fit)" : ""}`;
  }

  draw() {
    const common = { shown: this.data.isFitLevel ? this.data.shown : null, onPick: (i) => this.data.setBeta(i) };
    const kept = (view) => view.kept, cost = (view) => view.cost;
    const inPercent = (share) => `${(100 * share).toFixed(0)}%`;
    drawCurve(byId("kept-chart"), { value: kept, text: inPercent, ...common });
    drawCurve(byId("cost-chart"), { value: cost, text: (bits) => significant(bits, 2), ...common });
  }
}

// A curve over β with a dot at each step, and a larger one at the step that is shown.
function drawCurve(box, { value, text, shown, onPick }) {
  const { views } = about, betas = views.map((view) => view.beta);
  const width = Math.max(260, box.clientWidth), height = 210, bottom = height - 40;
  const x = new Axis([Math.min(...betas), Math.max(...betas)], [52, width - 14]);
  const y = Axis.upTo(largest(views, value) || 1, [bottom, 12]), levels = y.ticks(4);
  const points = views.map((view) => [x.at(view.beta), y.at(value(view))]);
  const grid = (level) => svg("line", { x1: x.start, x2: x.end, y1: y.at(level), y2: y.at(level) });
  const dot = (view, i) => {
    const [cx, cy] = points[i], isShown = i === shown;
    const circle = svg("circle", { cx, cy, r: isShown ? 6 : 3.5, class: isShown ? "now" : "dot" },
      hint(`β = ${short(view.beta)}: ${text(value(view))}`));
    circle.addEventListener("click", () => onPick(i));
    return circle;
  };
  box.replaceChildren(drawing(width, height, {},
    svg("g", { class: "grid" }, ...levels.map(grid)),
    x.drawBelow(bottom, x.ticks(6), x.tickText(6)),
    y.drawLeft(x.start, levels, text),
    svg("path", { class: "curve", d: `M${points.join("L")}` }),
    ...views.map(dot),
    svg("text", { class: "axis-name", x: (52 + width) / 2, y: height - 4 }, "β")));
}
