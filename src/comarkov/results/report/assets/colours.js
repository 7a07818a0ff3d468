// Colours of the style sheet, and scales between them. All scales vary in lightness, so that they do
// not depend on telling hues apart.

const known = new Map(); // to ask the page for each of thousands of marks would take long

function colour(name) {
  if (!known.has(name)) {
    const style = getComputedStyle(document.documentElement);
    known.set(name, style.getPropertyValue(name).trim());
  }
  return known.get(name);
}

const cellScale = () => scaleOf(["--cell-0", "--cell-1", "--cell-2", "--cell-3"]);

const liftScale = () => scaleOf(["--less-2", "--less-1", "--even", "--more-1", "--more-2"]);

// From a share between 0 and 1 to red, green and blue, by way of colours at equal distances.
function scaleOf(names) {
  const stops = names.map((name) => rgbOf(colour(name)));
  return (share) => {
    const at = share * (stops.length - 1);
    const i = Math.max(0, Math.min(stops.length - 2, Math.floor(at)));
    return stops[i].map((value, c) => Math.round(value + (stops[i + 1][c] - value) * (at - i)));
  };
}

const rgbOf = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

const css = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;

// The luminance of a colour from 0 to 1, by the formula of WCAG.
function luminance(rgb) {
  const [red, green, blue] = rgb.map((byte) =>
    (byte <= 10 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// Of dark and light ink, the one that can be read on this colour.
const inkOn = (rgb) => (luminance(rgb) > 0.2 ? "#14171a" : "#ffffff");

// A scale as pixels of an image.
function pixelsOf(scale, size = 256) {
  return Uint32Array.from({ length: size }, (_, i) => {
    const [red, green, blue] = scale(i / (size - 1));
    return (255 << 24) | (blue << 16) | (green << 8) | red;
  });
}

// Colours that distinguish clusters: hues a golden angle apart, and lighter ones for its parts.
function categoryColour(i, part = 0) {
  const isDark = luminance(rgbOf(colour("--paper"))) < 0.2, light = isDark ? 62 : 44;
  return `hsl(${(205 + 137.5 * i) % 360} ${i % 2 ? 52 : 62}% ${light + [0, 14, -12, 7, -6][part % 5]}%)`;
}
