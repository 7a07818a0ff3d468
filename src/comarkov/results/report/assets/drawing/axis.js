// A straight scale from numbers to pixels, with ticks at round numbers.

const SLACK = 1e-9; // of a step, for numbers like 0.1 that are not exact

class Axis {
  constructor([from, to], [start, end]) {
    Object.assign(this, { from, to, start, end });
  }

  // From 0 to a round number that is not below the largest.
  static upTo(most, [start, end]) {
    const step = roundStep(most / 10);
    return new Axis([0, Math.ceil(most / step - SLACK) * step], [start, end]);
  }

  at(value) {
    const share = this.to > this.from ? (value - this.from) / (this.to - this.from) : 0.5;
    return this.start + share * (this.end - this.start);
  }

  ticks(count) {
    if (this.to === this.from) return [this.from];
    const step = roundStep((this.to - this.from) / count);
    const first = Math.ceil(this.from / step - SLACK), last = Math.floor(this.to / step + SLACK);
    return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  }

  // As many decimals as the ticks need, the same in all of them.
  tickText(count) {
    const step = roundStep((this.to - this.from) / count);
    if (!(step >= 1e-6 && step < 1e9)) return short;
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return (value) => value.toLocaleString("en", options);
  }

  drawBelow(top, ticks, text, size = 6) {
    const tick = (value) => svg("g", { class: "tick", transform: moved(sharp(this.at(value)), 0) },
      svg("line", { y2: size }), svg("text", { y: size + 3, dy: "0.71em" }, text(value)));
    const line = `M${sharp(this.start)},${size}V${sharp(0)}H${sharp(this.end)}V${size}`;
    return svg("g", { class: "axis", transform: moved(0, top) },
      svg("path", { class: "domain", d: line }), ...ticks.map(tick));
  }

  drawLeft(left, ticks, text, size = 6) {
    const tick = (value) => svg("g", { class: "tick", transform: moved(0, sharp(this.at(value))) },
      svg("line", { x2: -size }), svg("text", { x: -size - 3, dy: "0.32em" }, text(value)));
    const line = `M${-size},${sharp(this.start)}H${sharp(0)}V${sharp(this.end)}H${-size}`;
    return svg("g", { class: "axis left", transform: moved(left, 0) },
      svg("path", { class: "domain", d: line }), ...ticks.map(tick));
  }
}

// Of 1, 2 and 5 times a power of ten, the number that is nearest to a length by its logarithm.
function roundStep(length) {
  const power = 10 ** Math.floor(Math.log10(length)), times = length / power;
  if (times >= Math.sqrt(5 * 10)) return 10 * power;
  if (times >= Math.sqrt(2 * 5)) return 5 * power;
  return times >= Math.sqrt(1 * 2) ? 2 * power : power;
}

// A line of one pixel is sharp in the middle of a pixel, unless pixels are finer.
const sharp = (pixel) => pixel + (devicePixelRatio > 1 ? 0 : 0.5);
