// What merging each pair of clusters costs, as a triangle of fields.

function drawPairs(box, { clusters, kind, pairs }) {
  const pad = 26, size = Math.max(16, Math.min(46, (box.clientWidth - 40) / clusters));
  const most = largest(pairs, ([, , bits]) => bits) || 1, scale = cellScale();
  const field = ([first, second, bits]) => {
    const fill = scale(Math.sqrt(Math.max(0, bits) / most));
    const text = { x: size / 2, y: size / 2, dy: "0.35em", class: "in-cell", fill: inkOn(fill) };
    return svg("g", { transform: moved(pad + first * size, pad + second * size) },
      svg("rect", { width: size - 1, height: size - 1, fill: css(fill) }),
      hint(`${first} + ${second}: ${bitsText(bits)} bits`),
      ...(size < 34 ? [] : [svg("text", text, significant(bits, 2))]));
  };
  const middle = (cluster) => pad + (cluster + 0.5) * size;
  const numbers = (attributes) => Array.from({ length: clusters }, (_, cluster) =>
    svg("text", attributes(cluster), String(cluster)));
  const width = pad + clusters * size + 2, height = width;
  const label = `Bits that merging each pair of ${kind} clusters costs`;
  box.replaceChildren(drawing(width, height, { role: "img", "aria-label": label },
    ...pairs.map(field),
    ...numbers((cluster) => ({ class: "number above", x: middle(cluster), y: 16 })),
    ...numbers((cluster) => ({ class: "number beside", x: 18, y: middle(cluster), dy: "0.35em" }))));
}
