// Numbers: the largest and the quantiles of many, and each of them as text.

const FORMAT = new Intl.NumberFormat("en", { maximumFractionDigits: 20 }); // slow to make

const largest = (items, measure) =>
  items.reduce((most, item) => Math.max(most, measure(item)), 0);

// Interpolated between the two nearest numbers; undefined if there are none.
function quantile(numbers, share) {
  const sorted = Float64Array.from(numbers).sort();
  const at = (sorted.length - 1) * share, low = Math.floor(at);
  return low + 1 < sorted.length
    ? sorted[low] + (sorted[low + 1] - sorted[low]) * (at - low) : sorted[low];
}

// At most so many significant digits, without zeros at the end: 0.5, 12.3, 1.2e+3.
function significant(value, digits) {
  const text = value.toPrecision(digits);
  return text.replace(/(\.\d*?)0+(e|$)/, "$1$2").replace(/\.(e|$)/, "$1");
}

// Three digits; in scientific notation only what is too large or too small to be read otherwise.
const short = (value) => (value === 0 || (Math.abs(value) >= 1e-6 && Math.abs(value) < 1e15)
  ? plainNumber(value.toPrecision(3)) : significant(value, 3));

const whole = (value) => FORMAT.format(value);

const entryText = (value) =>
  (Number.isSafeInteger(value) ? whole(value) : value >= 1e3 && value < 1e15 ? whole(Math.round(value)) : significant(value, 4));

// The functions below write what words/figures.py writes; a test compares the two.

const plainNumber = (text) => FORMAT.format(Number(text));

const isInformative = (lift) => lift >= 1.2;

// How many times as much as expected: ×0.25, ×2.0, ×270, ×1,540.
function liftText(lift) {
  if (!Number.isFinite(lift)) return "×∞";
  if (lift < 0.005) return lift ? "<×0.01" : "×0";
  if (lift < 1) return `×${lift.toFixed(2)}`;
  if (lift < 10) return lift < 9.95 ? `×${lift.toFixed(1)}` : "×10";
  return `×${plainNumber(lift < 1000 ? lift.toFixed(0) : lift.toPrecision(3))}`;
}

const countText = (count) => plainNumber(count.toFixed(0));

// A share in percent: 44.0%, <0.1%, 100%.
function percentText(share) {
  if (Math.abs(share) < 1e-9 || Math.abs(share - 1) < 1e-9) return `${Math.round(100 * share)}%`;
  if (share > 0 && share < 0.001) return "<0.1%";
  if (share > 0.999 && share < 1) return ">99.9%";
  return `${(100 * share).toFixed(1)}%`;
}

// An amount of information with three digits: 1.17, 0.0051, 2,310.
function bitsText(bits) {
  if (bits !== 0 && Math.abs(bits) < 1e-6) return "<0.000001";
  return plainNumber(bits.toPrecision(3));
}
