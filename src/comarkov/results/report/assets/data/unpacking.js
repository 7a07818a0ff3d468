// The packed data: decompressed, cut into sections, and read as numbers.

const visibleText = (key, value) => (typeof value === "string" ? visible(value) : value);

const about = JSON.parse(byId("about").textContent, visibleText);

const textOf = (bytes) => new TextDecoder().decode(bytes);

async function unpack() {
  const letters = atob(byId("packed").textContent);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return cut(new Uint8Array(await new Response(stream).arrayBuffer()));
}

function cut(bytes) {
  const sections = new Map();
  let at = 0;
  for (const [name, length] of about.layout) {
    sections.set(name, bytes.subarray(at, at + length));
    at += length;
  }
  return sections;
}

// Numbers of seven bits a byte, the lowest first; the eighth bit means that more follow.
function varints(bytes, count) {
  const numbers = new Uint32Array(count);
  for (let i = 0, at = 0; i < count; i++) {
    let byte = bytes[at++], number = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++];
      number |= (byte & 127) << shift;
    }
    numbers[i] = number;
  }
  return numbers;
}
