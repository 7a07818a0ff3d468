// Known classes of rows and columns: which classification is shown, and the class of each element.

const COLOURS = 12; // classes with a colour of their own, the largest

class Classes {
  constructor(data) {
    this.data = data;
    this.shown = { rows: 0, columns: 0 }; // which of the classifications of a side
    this.single = { rows: null, columns: null }; // the only class in colour, if one is selected
    this.codes = new Map();
  }

  all(side) { return about.classes[side]; }

  has(side) { return this.all(side).length > 0; }

  // The classification that is shown: { title, classes, accuracy }.
  of(side) { return this.all(side)[this.shown[side]]; }

  // From element to its class, counted from 1; 0 where it is not known.
  codesOf(side) {
    const section = `${side.slice(0, -1)} classes ${this.shown[side]}`;
    if (!this.codes.has(section)) {
      const { from, n } = this.data[side], inData = varints(this.data.sections.get(section), n);
      this.codes.set(section, Uint32Array.from(from, (place) => inData[place]));
    }
    return this.codes.get(section);
  }

  nameOf(side, element) {
    const code = this.has(side) ? this.codesOf(side)[element] : 0;
    return code ? this.of(side).classes[code - 1] : "";
  }

  colourOf(side, code) {
    const single = this.single[side];
    if (!code) return colour("--class-none");
    if (single !== null) return colour(code === single ? "--accent" : "--class-none");
    return code <= COLOURS ? colour(`--class-${code}`) : colour("--class-other");
  }

  // counts[cluster][class] of the view on screen; the last line has the elements in no cluster.
  counts(side) {
    const codes = this.codesOf(side), { label } = this.data.view[side];
    const clusters = largest(label, (cluster) => cluster + 1);
    const counts = Array.from({ length: clusters + 1 }, () => this.of(side).classes.map(() => 0));
    label.forEach((cluster, element) => {
      if (codes[element]) counts[cluster < 0 ? clusters : cluster][codes[element] - 1]++;
    });
    return counts;
  }
}
