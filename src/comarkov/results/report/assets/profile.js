// What is special about a row or a column: the entries that stand out most and its total. Where the
// page has only the largest entries, these are named.

const FIRST = 3; // entries of a profile

class Profiles {
  constructor(data) {
    this.data = data;
    this.hasAll = about.cells === about.all_cells;
  }

  // The names of some entries, with lifts or values: { count, total, first: [{ at, value, lift }] }
  of(side, element) {
    const entries = this.entries(side, element), { [side]: own, [otherSide(side)]: others, all } = this.totals;
    const total = own[element];
    for (const entry of entries) {
      entry.lift = (entry.value / total / others[entry.at]) * all;
      entry.rank = this.hasAll ? entry.value * Math.log2(entry.lift) : entry.value;
    }
    const first = entries.filter(({ lift }) => lift > 1 || !this.hasAll).sort((a, b) => b.rank - a.rank);
    return { total, count: entries.length, first: first.slice(0, FIRST) };
  }

  entries(side, element) {
    const { starts, columns, codes } = this.data.cells, entries = [];
    const isRow = side === "rows";
    const [from, to] = isRow ? [element, element + 1] : [0, this.data.rows.n];
    for (let row = from, e = starts[from]; row < to; row++) {
      for (; e < starts[row + 1]; e++) {
        if (!isRow && columns[e] !== element) continue;
        entries.push({ at: isRow ? columns[e] : row, value: about.values[codes[e]] });
      }
    }
    return entries;
  }

  // The sums of all rows, of all columns, and of all.
  get totals() {
    if (this.sums) return this.sums;
    const { starts, columns, codes } = this.data.cells;
    const [rows, columnSums] = SIDES.map((side) => new Float64Array(this.data[side].n));
    let all = 0;
    for (let row = 0, e = 0; row < rows.length; row++) {
      for (; e < starts[row + 1]; e++) {
        const value = about.values[codes[e]];
        rows[row] += value;
        columnSums[columns[e]] += value;
        all += value;
      }
    }
    return this.sums = { rows, columns: columnSums, all };
  }

  // "mostly tea (×3.1), rum (×2) · row total 120 · 5 columns", with names isolated.
  describe(side, element) {
    const { total, count, first } = this.of(side, element), other = otherSide(side);
    const note = ({ lift, value }) => (this.hasAll ? liftInBrackets(lift) : ` (${entryText(value)})`);
    const names = first.flatMap((entry, i) => [
      i ? ", " : this.hasAll ? "mostly " : "largest entries: ",
      isolated(this.data[other].names[entry.at]), note(entry)]);
    if (!this.hasAll) return names;
    const across = count === 1 ? other.slice(0, -1) : other;
    return [...names, `${names.length ? " · " : ""}${side.slice(0, -1)} total ${entryText(total)}`
      + ` · ${whole(count)} ${across}`];
  }
}

const liftInBrackets = (lift) => (isInformative(lift) ? ` (${liftText(lift)})` : "");

const otherSide = (side) => (side === "rows" ? "columns" : "rows");
