// The matrix, reordered: as many cells to a pixel as it takes, or as many pixels to a cell.

const LARGEST = 44; // pixels of a cell, beyond which an axis zooms no further
const NAMED = 11; // pixels of a cell from which its name is written
const PLAIN = 24; // pixels of a cluster, on average, from which borders are drawn in full

class Heatmap {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.small = document.createElement("canvas");
    this.viewIndex = data.fit;
    this.window = { x0: 0, x1: data.columns.n, y0: 0, y1: data.rows.n };
    this.lit = null; // { side, cluster, element } that a search or a button asked for
    this.cursor = null; // { row, column } as drawn, moved by keys
    this.recolour();
  }

  get view() { return this.data.view(this.viewIndex); }

  recolour() {
    this.scale = ramp();
    this.table = lookup(this.scale);
    this.table[0] = lookup(() => colour("--cell-0"), 2)[0];
  }

  later() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  layout() {
    const outer = this.canvas.parentElement.clientWidth;
    const narrow = outer < 560;
    const roomLeft = narrow ? 100 : Math.min(170, Math.round(outer * 0.2));
    const longest = this.longest ??= d3.max(this.data.columns.names, (name) => name.length) ?? 0;
    const roomTop = Math.min(narrow ? 84 : 120, 24 + 7 * longest);
    const wanted = Math.max(360, Math.min(outer * 0.78, innerHeight * 0.66, 980));
    const few = this.data.rows.n * 30; // rows that are few need not be thick
    const height = Math.round(Math.max(narrow ? 300 : 380, Math.min(wanted, few)) + roomTop);
    const { x0, x1, y0, y1 } = this.window;
    this.named = { // names need room, numbers of clusters little
      rows: (height - roomTop) / (y1 - y0) >= NAMED,
      columns: (outer - roomLeft) / (x1 - x0) >= NAMED,
    };
    const left = this.named.rows ? roomLeft : this.data.rows.clusters ? 40 : 8;
    const top = this.named.columns ? roomTop : this.data.columns.clusters ? 24 : 8;
    this.box = { left, top, width: Math.max(60, outer - left - 1), height: height - top - 1 };
    return height;
  }

  // Which bin of the picture each element of an axis falls into, and how many each bin has.
  bins(arranged, from, to, pixels) {
    const first = Math.floor(from), last = Math.min(arranged.at.length, Math.ceil(to));
    const single = last - first <= pixels;
    const size = single ? last - first : pixels;
    const bin = new Int32Array(arranged.at.length).fill(-1);
    const count = new Uint32Array(size);
    for (let p = first; p < last; p++) {
      const b = single ? p - first : Math.min(size - 1, Math.max(0,
        Math.floor((p + 0.5 - from) / (to - from) * size)));
      bin[arranged.at[p]] = b;
      count[b]++;
    }
    return { bin, count, size, first, last, single };
  }

  // Means of the cells in each bin, from the cells or, far away, from the picture of all.
  means(columns, rows) {
    const { cells } = this.data;
    const sums = new Float32Array(columns.size * rows.size);
    const { at } = this.view.rows;
    for (let p = rows.first; p < rows.last; p++) {
      const row = at[p], offset = rows.bin[row] * columns.size;
      for (let e = cells.starts[row]; e < cells.starts[row + 1]; e++) {
        const b = columns.bin[cells.columns[e]];
        if (b >= 0) sums[offset + b] += cells.levels[cells.codes[e]];
      }
    }
    for (let r = 0, i = 0; r < rows.size; r++) {
      for (let c = 0; c < columns.size; c++, i++) {
        if (sums[i] > 0) sums[i] /= columns.count[c] * rows.count[r];
      }
    }
    return sums;
  }

  draw() {
    const height = this.layout();
    const { pen, density } = fitted(this.canvas, height);
    const { left, top, width, height: high } = this.box;
    const { x0, x1, y0, y1 } = this.window;
    pen.fillStyle = colour("--cell-0");
    pen.fillRect(left, top, width, high);
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, high);
    pen.clip();
    this.usesOverview = this.isFar();
    if (this.usesOverview) this.drawOverview(pen);
    else this.drawCells(pen, density);
    this.drawBorders(pen);
    this.drawLight(pen);
    pen.restore();
    pen.strokeStyle = colour("--line");
    pen.strokeRect(left - 0.5, top - 0.5, width + 1, high + 1);
    this.drawLabels(pen);
    this.onDraw?.({ x0, x1, y0, y1 });
  }

  drawCells(pen, density) {
    const { left, top, width, height } = this.box;
    const { x0, x1, y0, y1 } = this.window;
    const columns = this.bins(this.view.columns, x0, x1, Math.round(width * density));
    const rows = this.bins(this.view.rows, y0, y1, Math.round(height * density));
    const means = this.means(columns, rows);
    const highest = quantile(means, 0.99) || 1;
    this.highest = highest * this.data.cells.top;
    this.paint(means, columns.size, rows.size, (mean) => Math.sqrt(mean / highest));
    const place = (axis, from, to, start, length) => {
      if (!axis.single) return [start, length];
      const unit = length / (to - from);
      return [start + (axis.first - from) * unit, axis.size * unit];
    };
    const [x, w] = place(columns, x0, x1, left, width);
    const [y, h] = place(rows, y0, y1, top, height);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.small, 0, 0, columns.size, rows.size, x, y, w, h);
    this.cellWidth = width / (x1 - x0);
    this.cellHeight = height / (y1 - y0);
  }

  // Where some cells were left out, is a pixel of the picture of all small enough?
  isFar() {
    if (!about.overview) return false;
    const { x0, x1, y0, y1 } = this.window;
    const [high, wide] = about.overview;
    const pixels = Math.max(
      this.box.width / ((x1 - x0) / this.data.columns.n * wide),
      this.box.height / ((y1 - y0) / this.data.rows.n * high));
    return pixels < 8;
  }

  drawOverview(pen) {
    const { left, top, width, height } = this.box;
    const { x0, x1, y0, y1 } = this.window;
    const [high, wide] = about.overview;
    this.paint(this.data.overview(this.viewIndex), wide, high, (byte) => byte / 255);
    const { n: columns } = this.data.columns, { n: rows } = this.data.rows;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.small, x0 / columns * wide, y0 / rows * high, (x1 - x0) / columns * wide,
      (y1 - y0) / rows * high, left, top, width, height);
    this.highest = null;
    this.cellWidth = width / (x1 - x0);
    this.cellHeight = height / (y1 - y0);
  }

  paint(numbers, width, height, position) {
    this.small.width = width;
    this.small.height = height;
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const { table } = this, last = table.length - 1;
    for (let i = 0; i < pixels.length; i++) {
      const value = numbers[i];
      pixels[i] = value > 0
        ? table[Math.max(14, Math.min(last, Math.round(last * position(value))))] : table[0];
    }
    this.small.getContext("2d").putImageData(image, 0, 0);
  }

  x(place) {
    return this.box.left + (place - this.window.x0) / (this.window.x1 - this.window.x0) * this.box.width;
  }

  y(place) {
    return this.box.top + (place - this.window.y0) / (this.window.y1 - this.window.y0) * this.box.height;
  }

  // Between clusters, the fainter the more there are, so that lines never hide the cells.
  drawBorders(pen) {
    const { left, top, width, height } = this.box, { columns, rows } = this.view;
    pen.strokeStyle = colour("--border");
    pen.lineWidth = 1;
    const draw = ({ at, bands }, cell, write) => {
      pen.globalAlpha = Math.min(1, cell * at.length / bands.length / PLAIN);
      pen.beginPath();
      for (const { end } of bands.slice(0, -1)) write(end);
      pen.stroke();
    };
    draw(columns, this.cellWidth, (end) => {
      const x = Math.round(this.x(end)) + 0.5;
      if (x > left && x < left + width) { pen.moveTo(x, top); pen.lineTo(x, top + height); }
    });
    draw(rows, this.cellHeight, (end) => {
      const y = Math.round(this.y(end)) + 0.5;
      if (y > top && y < top + height) { pen.moveTo(left, y); pen.lineTo(left + width, y); }
    });
    pen.globalAlpha = 1;
  }

  // Shade all but the cluster that is lit, and mark the element.
  drawLight(pen) {
    const { left, top, width, height } = this.box;
    const line = (isRow, place) => {
      const from = isRow ? this.y(place) : this.x(place);
      const size = Math.max(2, (isRow ? this.y(place + 1) : this.x(place + 1)) - from);
      pen.strokeStyle = colour("--accent");
      pen.lineWidth = 2;
      if (isRow) pen.strokeRect(left - 2, from, width + 4, size);
      else pen.strokeRect(from, top - 2, size, height + 4);
    };
    if (this.lit) {
      const { side, cluster, element } = this.lit, isRow = side === "rows";
      const band = this.view[side].bands.find((each) => each.cluster === cluster);
      if (band) {
        const axis = (place) => (isRow ? this.y(place) : this.x(place));
        const [a, b] = [axis(band.start), axis(band.end)];
        pen.fillStyle = colour("--shade");
        if (isRow) {
          pen.fillRect(left, top, width, Math.max(0, a - top));
          pen.fillRect(left, b, width, Math.max(0, top + height - b));
        } else {
          pen.fillRect(left, top, Math.max(0, a - left), height);
          pen.fillRect(b, top, Math.max(0, left + width - b), height);
        }
      }
      if (element !== undefined) line(isRow, this.view[side].place[element]);
    }
    if (this.cursor) {
      const x = this.x(this.cursor.column), y = this.y(this.cursor.row);
      pen.strokeStyle = colour("--accent");
      pen.lineWidth = 2;
      pen.strokeRect(x - 1, y - 1, Math.max(6, this.cellWidth) + 2, Math.max(6, this.cellHeight) + 2);
    }
  }

  drawLabels(pen) {
    const { left, top, width, height } = this.box;
    pen.textBaseline = "middle";
    this.drawAxis(pen, "rows", this.cellHeight, this.window.y0, this.window.y1, (p) => this.y(p),
      top, top + height, (text, middle) => {
        pen.textAlign = "right";
        pen.fillText(clipped(pen, text, left - 10), left - 7, middle);
      });
    this.drawAxis(pen, "columns", this.cellWidth, this.window.x0, this.window.x1, (p) => this.x(p),
      left, left + width, (text, middle, isName) => {
        pen.save();
        pen.translate(middle, top - 7);
        pen.textAlign = isName ? "left" : "center";
        if (isName) pen.rotate(-Math.PI / 2);
        pen.fillText(isName ? clipped(pen, text, top - 12) : text, 0, isName ? 0 : -3);
        pen.restore();
      });
  }

  drawAxis(pen, name, size, from, to, at, low, high, write) {
    const arranged = this.view[name], { names } = this.data[name];
    if (this.named[name]) {
      pen.font = font(Math.min(13, Math.max(10, size - 1)));
      for (let p = Math.floor(from); p < Math.min(Math.ceil(to), names.length); p++) {
        const middle = (at(p) + at(p + 1)) / 2;
        const isLit = this.lit?.side === name && this.lit.element === arranged.at[p];
        pen.fillStyle = colour(isLit ? "--accent" : "--ink");
        if (middle > low && middle < high) write(names[arranged.at[p]], middle, true);
      }
      return;
    }
    pen.font = font(12, 600);
    let last = -Infinity;
    for (const { cluster, start, end } of arranged.bands) {
      const a = Math.max(low, at(start)), b = Math.min(high, at(end)), middle = (a + b) / 2;
      const text = cluster < 0 ? "none" : String(cluster);
      const room = name === "rows" ? 13 : pen.measureText(text).width / 2 + 9;
      if (b - a < 2 || middle - last < room) continue;
      const isLit = this.lit?.side === name && this.lit.cluster === cluster;
      pen.fillStyle = colour(isLit ? "--accent" : "--muted");
      write(text, middle, false);
      last = middle + (name === "rows" ? 0 : pen.measureText(text).width / 2 - 3);
    }
  }

  // The places under a point of the canvas, or null beside the matrix.
  under(x, y) {
    const { left, top, width, height } = this.box, { x0, x1, y0, y1 } = this.window;
    if (x < left || y < top || x >= left + width || y >= top + height) return null;
    const column = Math.min(this.data.columns.n - 1, Math.floor(x0 + (x - left) / width * (x1 - x0)));
    const row = Math.min(this.data.rows.n - 1, Math.floor(y0 + (y - top) / height * (y1 - y0)));
    return { row, column };
  }

  // The value of a cell; null if it may be one of those that were left out.
  value(row, column) {
    const { cells } = this.data;
    for (let e = cells.starts[row]; e < cells.starts[row + 1]; e++) {
      if (cells.columns[e] === column) return about.values[cells.codes[e]];
    }
    return about.cells < about.all_cells ? null : 0;
  }

  describe({ row: rowPlace, column: columnPlace }) {
    const view = this.view;
    const row = view.rows.at[rowPlace], column = view.columns.at[columnPlace];
    const name = (side, element, cell) => {
      const more = Math.round(1 / cell) - 1;
      const cluster = view[side].label[element];
      const where = !this.data[side].clusters ? "" : cluster < 0 ? " · in no cluster" : ` · cluster ${cluster}`;
      return said("strong", apart(this.data[side].names[element]),
        `${more > 0 ? ` and about ${more} more` : ""}${where}`);
    };
    const value = this.value(row, column);
    const told = value === null ? `0, or below ${number(about.least)}` : number(value);
    const near = this.cellWidth >= 3 && this.cellHeight >= 3;
    return [
      name("rows", row, this.cellHeight),
      name("columns", column, this.cellWidth),
      near ? said("", `entry ${told}`) : said("soft", "zoom in for single entries"),
    ];
  }
}

// A high quantile of the positive numbers, from some thousands of them.
function quantile(numbers, share) {
  const step = Math.max(1, Math.floor(numbers.length / 60000));
  const some = [];
  for (let i = 0; i < numbers.length; i += step) if (numbers[i] > 0) some.push(numbers[i]);
  return d3.quantile(some, share);
}
