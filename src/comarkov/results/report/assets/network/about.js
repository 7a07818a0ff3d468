// What the page knows; names have their directional controls spelt out.

const about = JSON.parse(byId("about").textContent,
  (key, value) => (typeof value === "string" ? visible(value) : value));

// Draw again when the width of the page changes.
function onWidth(draw) {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // phones resize when their bars come and go
    width = innerWidth;
    requestAnimationFrame(draw);
  });
}

// Mark the page as complete once it has been put together.
function begin(draw) {
  connectDownloads(new Map(Object.entries(about.tables)));
  draw();
  onWidth(draw);
  document.documentElement.dataset.ready = "yes";
}
