// Snippets of the texts of rows, with the distinctive words of a cluster marked.

class Snippets {
  constructor(data) {
    const bytes = data.sections.get("row texts");
    this.lines = bytes ? new TextDecoder().decode(bytes).split("\n") : null;
    this.from = data.rows.from;
  }

  has(side) { return side === "rows" && this.lines !== null; }

  of(side, element) { return this.has(side) ? visible(this.lines[this.from[element]]) : ""; }

  // The parts of a snippet: texts, and marked words.
  marked(side, element, words) {
    return this.of(side, element).split(/([\p{L}\p{N}_]+)/u).map((part) =>
      (words.has(part.toLowerCase()) ? newElement("mark", {}, part) : part));
  }
}

const distinctiveWords = (facts) =>
  new Set((facts?.features ?? []).map(({ name }) => name.toLowerCase()));
