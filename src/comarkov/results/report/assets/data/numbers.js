// Numbers: the largest and the quantiles of many, and each of them as text.

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

const short = (value) => significant(value, 3);

const whole = (value) => value.toLocaleString("en");

const entryText = (value) =>
  (Number.isSafeInteger(value) ? whole(value) : significant(value, 4));

const percent = (share) =>
  (share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`);

const isInformative = (lift) => lift >= 1.2;

const liftText = (lift) => `×${lift < 100 ? short(lift) : whole(Math.round(lift))}`;
