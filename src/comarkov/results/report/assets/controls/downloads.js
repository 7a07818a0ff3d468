// Tables and titles of the page as files.

function download(name, content, type = "text/csv") {
  const href = URL.createObjectURL(new Blob([content], { type }));
  newElement("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

function connectDownloads(sections) {
  document.querySelectorAll("button.download").forEach((button) => {
    const name = button.dataset.file;
    button.addEventListener("click", () => download(name, sections.get(name)));
  });
}
