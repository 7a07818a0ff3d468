// The key figures of what is shown.

function describeFigures({ beta, cost, kept }) {
  byId("beta-now").textContent = short(beta);
  byId("kept").textContent = percent(kept);
  byId("cost").textContent = short(cost);
  byId("bits").textContent = short(kept * about.information);
}
