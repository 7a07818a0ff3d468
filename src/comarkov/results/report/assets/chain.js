// Puts the page of a chain together.

function connectArrows(graph) {
  const slider = byId("arrows"), shown = byId("arrows-shown");
  slider.max = graph.arrows.length;
  slider.value = graph.shown;
  byId("arrows-control").hidden = graph.arrows.length < 3;
  const update = () => {
    graph.show(+slider.value);
    shown.textContent = graph.extent;
  };
  slider.addEventListener("input", update);
  shown.textContent = graph.extent;
}

const graph = new ChainGraph(byId("graph"));
begin(() => graph.draw());
connectArrows(graph);
document.querySelectorAll("button.show").forEach((button) =>
  button.addEventListener("click", () => {
    graph.pin(+button.dataset.cluster);
    byId("graph").scrollIntoView({ block: "nearest" });
  }));
