// Tables of the page as files.

function download(name, bytes) {
  const href = URL.createObjectURL(new Blob([bytes], { type: "text/csv" }));
  newElement("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

function connectDownloads(sections) {
  document.querySelectorAll("button.download").forEach((button) => {
    const name = button.dataset.file;
    button.addEventListener("click", () => download(name, sections.get(name)));
  });
}
