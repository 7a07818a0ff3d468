// The two sides of a matrix, and arrow keys as steps along them.

const SIDES = ["rows", "columns"];

const ARROWS = {
  ArrowLeft: ["columns", -1],
  ArrowRight: ["columns", 1],
  ArrowUp: ["rows", -1],
  ArrowDown: ["rows", 1],
};

const within = (place, count) => Math.max(0, Math.min(count - 1, place));
