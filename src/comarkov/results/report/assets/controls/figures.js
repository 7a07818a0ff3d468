// The key figures of what is shown.

function describeFigures({ beta, cost, kept }) {
  byId("beta-now").textContent = short(beta);
  byId("kept").textContent = percent(kept);
  byId("cost").textContent = bitsText(cost);
  byId("bits").textContent = bitsText(kept * about.information);
}
