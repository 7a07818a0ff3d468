// How well clusters agree with known classes, from a table of counts: counts[cluster][class].
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
