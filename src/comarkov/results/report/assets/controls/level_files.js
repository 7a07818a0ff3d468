// The level that is shown, as files and as a command.

// The table of a side at the level that is shown. What is known of the fit only is left empty.
function levelCsv(data, side) {
  const { from } = data[side], { label } = data.view[side], place = inverse(from);
  const [, ...stored] = readCsv(textOf(data.sections.get(`${side}.csv`)));
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = stored.map(([name], i) => {
    const cluster = label[place[i]];
    const title = cluster < 0 ? "" : data.titleOf(side, cluster);
    return [name, String(cluster), "", "", title].map(quoted).join(",");
  });
  return ["name,cluster,confidence,rank,title", ...lines, ""].join("\n");
}

function downloadLevel(data, side) {
  download(`${side}.csv`, levelCsv(data, side));
}

// The folder of this page, as a shell takes it; FOLDER where the page cannot know.
function ownFolder() {
  if (location.protocol !== "file:") return "FOLDER";
  const path = decodeURIComponent(location.pathname).replace(/\/[^/]*$/, "").replace(/^\/([A-Za-z]:)/, "$1");
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function cutCommand(data) {
  const folder = ownFolder(), { rows, columns } = data.level;
  const numbers = [["-k", rows], ["-l", columns]].filter(([, number]) => number);
  const out = `${folder.replace(/^'|'$/g, "").split("/").pop()}-${numbers.map(([, number]) => number).join("x")}`;
  const options = numbers.map(([name, number]) => `${name} ${number}`).join(" ");
  return `comarkov cut ${folder} ${options} -o ${/\s|'/.test(out) ? `'${out.replaceAll("'", "'\\''")}'` : out}`;
}
