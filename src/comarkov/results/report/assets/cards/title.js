// The title of a card, which the reader can change: a button that becomes a text field.

const LONGEST_TITLE = 120; // letters

function titleButton(title, onChange) {
  const attributes = { type: "button", class: "title", title: "Click to edit this title" };
  const button = newElement("button", attributes, isolated(title));
  button.addEventListener("click", () => editTitle(button, title, onChange));
  return button;
}

// Titles in the sentences that open the report, which describe the clusters of the fit.
function renewTitlesInSentences(data) {
  document.querySelectorAll(".cluster-title").forEach((box) => {
    const { side, cluster } = box.dataset;
    const nodes = data[side].tree?.nodesAt(data.fitLevel[side]);
    if (nodes) box.textContent = data.titleOfNode(side, nodes[cluster]);
  });
}

// Enter and leaving the field keep what was typed, Escape keeps the title as it was.
function editTitle(button, title, onChange) {
  const input = newElement("input", { type: "text", class: "title", "aria-label": "Title",
    maxlength: LONGEST_TITLE, value: title });
  let isDone = false;
  const finish = (text) => {
    if (isDone) return; // to remove the field is to leave it
    isDone = true;
    const changed = text.trim() !== title;
    input.replaceWith(button);
    if (changed) onChange(visible(text.trim()));
  };
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    finish(event.key === "Enter" ? input.value : title);
    if (button.isConnected) button.focus();
  });
  input.addEventListener("blur", () => finish(input.value));
  button.replaceWith(input);
  input.focus();
  input.select();
}
