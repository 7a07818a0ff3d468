// The lines of a CSV text as lists of fields, quoted as in RFC 4180; a line ends with a line feed.
function readCsv(text) {
  const next = /(?:"([^"]*(?:""[^"]*)*)"|([^,\n]*))(,|\n|$)/y;
  const lines = [];
  let line = [];
  while (next.lastIndex < text.length) {
    const [, quoted, plain, end] = next.exec(text);
    line.push(plain ?? quoted.replaceAll('""', '"'));
    if (end !== ",") {
      lines.push(line);
      line = [];
    }
  }
  return lines;
}
