// The path over β: a slider, key figures and curves of the view that is shown.

class Path {
  constructor(data) {
    this.data = data;
    byId("beta").addEventListener("input", (event) => this.show(+event.target.value));
    this.describe();
  }

  show(i) {
    this.data.setBeta(i);
  }

  describe() {
    const { beta, fit } = about.views[this.data.shown];
    byId("beta").value = this.data.shown;
    byId("beta").setAttribute("aria-valuetext", short(beta) + (fit ? ", the fit" : ""));
    byId("beta-name").textContent = `= ${short(beta)}${fit ? " (the fit)" : ""}`;
  }

  draw() {
    const common = { shown: this.data.isFitLevel ? this.data.shown : null, onPick: (i) => this.show(i) };
    const kept = (view) => view.kept, cost = (view) => view.cost;
    const inPercent = (share) => `${(100 * share).toFixed(0)}%`;
    drawCurve(byId("kept-chart"), { value: kept, text: inPercent, ...common });
    drawCurve(byId("cost-chart"), { value: cost, text: (bits) => significant(bits, 2), ...common });
  }
}
