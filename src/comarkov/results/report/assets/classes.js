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

  // The classification that is shown: { title, classes }.
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

// --- how well clusters agree with known classes, from a table of counts: counts[cluster][class].
// Elements in no cluster are one more cluster, the last; for purity they count as wrong.

const sumOf = (numbers) => numbers.reduce((sum, each) => sum + each, 0);

function entropyOf(counts) {
  const total = sumOf(counts);
  return -sumOf(counts.map((count) => (count ? (count / total) * Math.log2(count / total) : 0)));
}

const classSums = (counts) => counts[0].map((_, c) => sumOf(counts.map((line) => line[c])));

function mutualInformation(counts) {
  const joint = entropyOf(counts.flat());
  return Math.max(0, entropyOf(counts.map(sumOf)) + entropyOf(classSums(counts)) - joint);
}

function normalizedMutualInformation(counts) {
  const both = entropyOf(counts.map(sumOf)) + entropyOf(classSums(counts));
  return both ? (2 * mutualInformation(counts)) / both : 1;
}

function adjustedRandIndex(counts) {
  const pairs = (numbers) => sumOf(numbers.map((count) => (count * (count - 1)) / 2));
  const sizes = [counts.flat(), counts.map(sumOf), classSums(counts)];
  const [together, clusters, classes] = sizes.map(pairs);
  const all = pairs([sumOf(counts.flat())]);
  const expected = all ? (clusters * classes) / all : 0, most = (clusters + classes) / 2;
  return most === expected ? 1 : (together - expected) / (most - expected);
}

function purity(counts) {
  const right = counts.slice(0, -1).map((line) => Math.max(...line));
  return sumOf(right) / sumOf(counts.flat());
}

// --- a strip of colours beside the matrix: the class of each row or, below it, of each column.

const STRIP = 11; // pixels of its width
const STRIP_GAP = 3; // pixels between it and the matrix

function drawStrip(pen, heatmap, side) {
  const { spans, classes } = heatmap, span = spans[side], codes = classes.codesOf(side);
  const beside = Math.round(spans[otherSide(side)].end) + STRIP_GAP, { at } = heatmap.data.view[side];
  for (let pixel = Math.floor(span.start); pixel < span.end; pixel++) {
    const placeOf = (edge) => (edge - span.start) / span.cell + span.from;
    const first = Math.max(0, Math.floor(placeOf(pixel))), end = Math.ceil(placeOf(pixel + 1));
    pen.fillStyle = classes.colourOf(side, mostFrequent(codes, at, first, end));
    const size = Math.min(2, Math.floor(span.end) - pixel); // the next one covers the second
    if (side === "rows") pen.fillRect(beside, pixel, STRIP, size);
    else pen.fillRect(pixel, beside, size, STRIP);
  }
}

// The most frequent class of the elements at these places.
function mostFrequent(codes, at, first, end) {
  const tally = new Map();
  let best = codes[at[first]];
  for (let place = first; place < Math.min(end, at.length); place++) {
    const code = codes[at[place]];
    tally.set(code, (tally.get(code) ?? 0) + 1);
    if (tally.get(code) > (tally.get(best) ?? 0)) best = code;
  }
  return best;
}
