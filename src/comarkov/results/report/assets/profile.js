// What is special about a row or a column: its total, and the entries that stand out most.
// Computed from all cells where they are in the page, else as they were packed (profiles.py).

const FIRST = 3; // entries of a profile

class Profiles {
  constructor(data) {
    this.data = data;
    this.hasAll = about.cells === about.all_cells;
  }

  // { total, count, first: [{ element, lift }] }
  of(side, element) {
    return this.hasAll ? this.computed(side, element) : this.packed(side, element);
  }

  computed(side, element) {
    const other = otherSide(side), totals = this.totals, entries = this.entries(side, element);
    const total = totals[side][element];
    const standing = entries.map(({ at, value }) => {
      const lift = (value / total / totals[other][at]) * totals.all;
      return { element: at, lift, bits: value * Math.log2(lift) };
    });
    const first = standing.filter(({ lift }) => lift > 1).sort((a, b) => b.bits - a.bits);
    return { total, count: entries.length, first: first.slice(0, FIRST) };
  }

  entries(side, element) {
    const { starts, columns, codes } = this.data.cells, entries = [];
    const add = (at, e) => entries.push({ at, value: about.values[codes[e]] });
    if (side === "rows") {
      for (let e = starts[element]; e < starts[element + 1]; e++) add(columns[e], e);
      return entries;
    }
    for (let row = 0, e = 0; row < this.data.rows.n; row++) {
      for (; e < starts[row + 1]; e++) if (columns[e] === element) add(row, e);
    }
    return entries;
  }

  // The sums of all rows, of all columns, and of all.
  get totals() {
    return this.sums ??= this.sumUp();
  }

  sumUp() {
    const { starts, columns, codes } = this.data.cells;
    const [rows, columnSums] = SIDES.map((side) => new Float64Array(this.data[side].n));
    const sums = { rows, columns: columnSums, all: 0 };
    for (let row = 0, e = 0; row < sums.rows.length; row++) {
      for (; e < starts[row + 1]; e++) {
        sums.rows[row] += about.values[codes[e]];
        sums.columns[columns[e]] += about.values[codes[e]];
      }
      sums.all += sums.rows[row];
    }
    return sums;
  }

  packed(side, element) {
    const { totals, counts, numbers, entries } = (this.unpacked ??= {})[side] ??= this.unpack(side);
    let at = 0;
    for (let i = 0; i < element; i++) at += numbers[i];
    const first = Array.from({ length: numbers[element] }, (_, i) =>
      ({ element: entries[2 * (at + i)], lift: entries[2 * (at + i) + 1] / 100 }));
    return { total: totals[element], count: counts[element], first };
  }

  unpack(side) {
    const { n } = this.data[side];
    const section = (name) => this.data.sections.get(`${side.slice(0, -1)} ${name}`);
    const numbers = varints(section("numbers of first entries"), n);
    return {
      totals: new Float64Array(section("totals").slice().buffer),
      counts: varints(section("counts of entries"), n),
      numbers,
      entries: varints(section("first entries"), 2 * numbers.reduce((sum, each) => sum + each, 0)),
    };
  }

  // "mostly tea (×3.1), rum (×2) · row total 120 · 5 columns", with names isolated.
  describe(side, element) {
    const { total, count, first } = this.of(side, element), other = otherSide(side);
    const names = first.flatMap(({ element: at, lift }, i) => [
      i ? ", " : "mostly ", isolated(this.data[other].names[at]), liftInBrackets(lift)]);
    const across = count === 1 ? other.slice(0, -1) : other;
    return [...names, `${names.length ? " · " : ""}${side.slice(0, -1)} total ${entryText(total)}`
      + ` · ${whole(count)} ${across}`];
  }
}

const liftInBrackets = (lift) => (isInformative(lift) ? ` (${liftText(lift)})` : "");

const otherSide = (side) => (side === "rows" ? "columns" : "rows");
