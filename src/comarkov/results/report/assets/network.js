// What the pages of networks share.

// Mark the page as complete once it has been put together.
function begin(draw) {
  connectDownloads(new Map(Object.entries(about.tables)));
  draw();
  onWidth(draw);
  document.documentElement.dataset.ready = "yes";
}
