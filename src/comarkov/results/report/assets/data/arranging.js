// Where elements are drawn.

// By cluster, in this order of clusters, and in a cluster as in the fit; those in no cluster last.
// An arrangement that is the same as before is that object, so that pictures need not be drawn again.
function arrange(side, label, clusters, before) {
  const at = side.clusters ? elementsByCluster(label, clusters)
    : Uint32Array.from({ length: side.n }, (_, element) => element);
  const isSame = before && before.at.every((element, place) => element === at[place]);
  const place = isSame ? before.place : inverse(at);
  const arrangement = { at: isSame ? before.at : at, place, label, clusters };
  return { ...arrangement, bands: side.clusters ? bandsOf(at, label) : [] };
}

function elementsByCluster(label, clusters) {
  const none = clusters.length, starts = new Uint32Array(none + 2);
  const placeOf = new Uint32Array(none);
  clusters.forEach((cluster, place) => (placeOf[cluster] = place));
  const bucket = Uint32Array.from(label, (cluster) => (cluster < 0 ? none : placeOf[cluster]));
  for (const place of bucket) starts[place + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  const at = new Uint32Array(label.length);
  bucket.forEach((place, element) => (at[starts[place]++] = element));
  return at;
}

function inverse(order) {
  const place = new Uint32Array(order.length);
  order.forEach((element, p) => (place[element] = p));
  return place;
}

// Where each cluster is drawn: from its first place to the one after its last.
function bandsOf(at, label) {
  const bands = [];
  at.forEach((element, p) => {
    const last = bands[bands.length - 1];
    if (last?.cluster === label[element]) last.end = p + 1;
    else bands.push({ cluster: label[element], start: p, end: p + 1 });
  });
  return bands;
}
