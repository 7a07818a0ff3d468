// Colours that tell categories apart: hues a golden angle apart, in turn lighter and darker.

const GOLDEN = 2.399963; // radians
const CHROMA = 52;

function categoryColour(i) {
  const isDark = labOf(rgbOf(colour("--paper")))[0] < 50;
  const lightness = (isDark ? 66 : 48) + [0, 14, -9][i % 3];
  const hue = 0.9 + i * GOLDEN;
  return css(rgbOfLab([lightness, CHROMA * Math.cos(hue), CHROMA * Math.sin(hue)]));
}
