// Colours of the style sheet and scales between them, by way of CIELAB, in which equal steps look
// equal. All scales vary in lightness, so that they do not depend on telling hues apart.

const WHITE = [0.96422, 1, 0.82521]; // D50, as X, Y and Z
const TO_XYZ = [ // from linear red, green and blue, adapted to D50
  [0.4360747, 0.3850649, 0.1430804],
  [0.2225045, 0.7168786, 0.0606169],
  [0.0139322, 0.0971045, 0.7141733],
];
const FROM_XYZ = [
  [3.1338561, -1.6168667, -0.4906146],
  [-0.9787684, 1.9161415, 0.0334540],
  [0.0719453, -0.2289914, 1.4052427],
];
const BEND = 6 / 29; // below it the cube root is replaced by a line

const product = (matrix, vector) =>
  matrix.map((line) => line.reduce((sum, value, i) => sum + value * vector[i], 0));

function lightOf(byte) {
  const share = byte / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function byteOf(light) {
  const share = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
  return Math.max(0, Math.min(255, Math.round(255 * share)));
}

const compressed = (t) => (t > BEND ** 3 ? Math.cbrt(t) : t / (3 * BEND ** 2) + 4 / 29);

const expanded = (t) => (t > BEND ? t ** 3 : 3 * BEND ** 2 * (t - 4 / 29));

// Lightness from 0 to 100, then green to red, then blue to yellow.
function labOf(rgb) {
  const [x, y, z] = product(TO_XYZ, rgb.map(lightOf)).map((value, i) => compressed(value / WHITE[i]));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function rgbOfLab([lightness, a, b]) {
  const y = (lightness + 16) / 116;
  const xyz = [y + a / 500, y, y - b / 200].map((value, i) => expanded(value) * WHITE[i]);
  return product(FROM_XYZ, xyz).map(byteOf);
}

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
  const stops = names.map((name) => labOf(rgbOf(colour(name))));
  return (share) => {
    const at = share * (stops.length - 1);
    const i = Math.max(0, Math.min(stops.length - 2, Math.floor(at)));
    return rgbOfLab(stops[i].map((value, c) => value + (stops[i + 1][c] - value) * (at - i)));
  };
}

const css = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;

// Of dark and light ink, the one that can be read on this colour.
const inkOn = (rgb) => (labOf(rgb)[0] > 58 ? "#14171a" : "#ffffff");

// A scale as pixels of an image.
function pixelsOf(scale, size = 256) {
  return Uint32Array.from({ length: size }, (_, i) => {
    const [red, green, blue] = scale(i / (size - 1));
    return (255 << 24) | (blue << 16) | (green << 8) | red;
  });
}

const rgbOf = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

// Colours that tell categories apart: hues a golden angle apart, in turn lighter and darker.
const GOLDEN = 2.399963; // radians
const CHROMA = 52;

function categoryColour(i) {
  const isDark = labOf(rgbOf(colour("--paper")))[0] < 50;
  const lightness = (isDark ? 66 : 48) + [0, 14, -9][i % 3];
  const hue = 0.9 + i * GOLDEN;
  return css(rgbOfLab([lightness, CHROMA * Math.cos(hue), CHROMA * Math.sin(hue)]));
}
