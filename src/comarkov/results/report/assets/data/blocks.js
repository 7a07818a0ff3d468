// Sums of leaf blocks at a level, and what they keep.

// The masses of leaf blocks, and those of the leaves of each side.
function readLeafBlocks(bytes, rows, columns) {
  const numbers = new Float32Array(bytes.slice().buffer), size = rows * columns;
  return {
    shape: [rows, columns],
    share: numbers.subarray(0, size),
    rows: numbers.subarray(size, size + rows),
    columns: numbers.subarray(size + rows),
  };
}

// The blocks of clusters: `cluster` gives that of each row leaf and of each column leaf.
function mergedBlocks(leaves, cluster, [rows, columns]) {
  const share = new Float64Array(rows * columns), expected = new Float64Array(rows * columns);
  const [high, wide] = leaves.shape;
  for (let i = 0, from = 0; i < high; i++) {
    const offset = cluster.rows[i] * columns;
    for (let j = 0; j < wide; j++, from++) share[offset + cluster.columns[j]] += leaves.share[from];
  }
  const rowMass = summed(leaves.rows, cluster.rows, rows);
  const columnMass = summed(leaves.columns, cluster.columns, columns);
  for (let i = 0; i < expected.length; i++) {
    expected[i] = rowMass[Math.floor(i / columns)] * columnMass[i % columns];
  }
  return { share, expected };
}

function summed(masses, cluster, count) {
  const sums = new Float64Array(count);
  masses.forEach((mass, i) => (sums[cluster[i]] += mass));
  return sums;
}

// I(X̄;Ȳ) in bits; exactly 0 where a side has one cluster.
function blockInformation({ share, expected, shape }) {
  if (Math.min(...shape) === 1) return 0;
  return share.reduce((bits, mass, i) =>
    bits + (mass > 0 && expected[i] > 0 ? mass * Math.log2(mass / expected[i]) : 0), 0);
}

// L_β in bits, from I(X;Y), I(X;Ȳ), I(X̄;Y) and I(X̄;Ȳ).
function costOf(beta, { whole, columns, rows, blocks }) {
  const coupling = 2 * beta - 1;
  return Math.max(0, 2 * beta * whole - coupling * (columns + rows) - 2 * (1 - beta) * blocks);
}
