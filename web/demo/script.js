"use strict";
// Shows the numbers of the run that wrote this page. Nothing is pooled here, and no window computed: both are looked up.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const all = (selector) => document.querySelectorAll(selector);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function image(picture, alt) {
  return element("img", { src: picture.src, width: picture.width, height: picture.height, alt });
}

const titles = { "max": "Maximum", "min": "Minimum", "avg": "Average", "sum": "Sum", "smooth-max": "Smooth max", "lp": "Lp",
  "scene": "The picture", "winners": "Winners", "seen-floor": "What windows see in floor mode", "edge-floor": "Maxima in floor mode",
  "seen-ceil": "What windows see in ceil mode", "edge-ceil": "Maxima in ceil mode" };

// Two pictures of one height, whatever their shapes: the columns are as wide as the pictures are for their height.
function pair(first, second, name) {
  const made = element("div", { className: "pair" }, image(first, name), image(second, `${name}, enlarged`));
  made.style.gridTemplateColumns = `${first.width / first.height}fr ${second.width / second.height}fr`;
  return made;
}

function fillTexts() {
  const machine = data.machine;
  byId("machine").textContent = `${machine.processor}, instruction set ${machine.target}, ${machine.threads} threads`;
  byId("version").textContent = `${machine.version}, built by ${machine.compiler}`;
  for (const link of data.links) byId("links").append(element("a", { href: link.address, textContent: link.name }));
  byId("links").hidden = data.links.length === 0;
  if (!data.isPhotograph) all("[data-only=photograph]").forEach((part) => part.remove());
  all("[data-text]").forEach((part) => { part.textContent = data[part.dataset.text]; });
  all("[data-note]").forEach((part) => { part.textContent = data.pictures[part.dataset.note].note; });
  all("[data-size]").forEach((part) => {
    const picture = data.pictures[part.dataset.size];
    part.textContent = `${picture.height} x ${picture.width}`;
  });
}

function fillPictures() {
  all("img[data-picture]").forEach((part) => Object.assign(part, data.pictures[part.dataset.picture]));
  all("[data-pair]").forEach((figure) => {
    const name = figure.dataset.pair;
    figure.prepend(pair(data.pictures[name], data.crops[name], titles[name]));
  });
  all("[data-two]").forEach((figure) => {
    const [seen, pooled] = figure.dataset.two.split(" ");
    const two = pair(data.pictures[seen], data.pictures[pooled], titles[pooled]);
    two.firstChild.alt = titles[seen];
    figure.prepend(two);
  });
  all("[data-heat]").forEach((figure) => {
    const name = figure.dataset.heat;
    figure.prepend(pair(data.heat[name], data.heatCrops[name], `Gradient of ${titles[name]}`), bars(name));
  });
  for (const [name, title] of Object.entries(titles)) {
    const bins = data.pictures[`adaptive-${name}`];
    if (!bins) continue;
    const two = element("div", { className: "swatch" }, image(bins, `Adaptive ${title}, 9 x 12 bins`),
      image(data.pictures[`global-${name}`], `Global ${title}`));
    byId("swatches").append(element("figure", {}, two, element("figcaption", { textContent: title })));
  }
}

// The whole and the enlarged part have colour bars of their own: each is as bright as its largest value allows.
function bars(name) {
  const two = element("div", { className: "pair" }, bar(data.heat[name].largest), bar(data.heatCrops[name].largest));
  two.style.gridTemplateColumns = `${data.heat[name].width / data.heat[name].height}fr 1fr`;
  return two;
}

function bar(largest) {
  const made = element("div", { className: "bar" });
  fillBar(made, largest);
  return made;
}

function fillBar(made, largest) {
  made.replaceChildren(...[0, largest / 2, largest].map((value) => element("span", { textContent: Number(value.toPrecision(3)) })));
}

function choices(fieldset, entries, choose) {
  entries.forEach(([value, title], number) => {
    const input = element("input", { type: "radio", name: fieldset.id, value, checked: number === 0 });
    input.addEventListener("change", () => choose(value));
    fieldset.append(element("label", {}, input, title));
  });
}

function startComparison() {
  const compare = byId("compare"), slider = compare.querySelector("input");
  const move = () => compare.style.setProperty("--at", `${slider.value}%`);
  slider.addEventListener("input", move);
  move();
  choices(byId("compare-choice"), ["max", "min", "avg", "smooth-max", "lp"].map((name) => [name, titles[name]]), (name) => {
    Object.assign(byId("compare-after"), data.pictures[name], { alt: `The picture after pooling: ${titles[name]}` });
  });
}

function startBeta() {
  const slider = byId("beta-slider"), figure = byId("beta-figure");
  slider.max = data.betas.length - 1;
  const show = () => {
    const frame = data.betas[slider.value];
    if (figure.children.length > 1) figure.firstChild.remove();
    figure.prepend(pair(frame.picture, frame.crop, frame.title));
    byId("beta-title").textContent = frame.title;
    slider.setAttribute("aria-valuetext", frame.title);
  };
  slider.addEventListener("input", show);
  slider.value = Math.floor(data.betas.length / 2);
  show();
}

// A plane of numbers as a canvas with one pixel per number, which the style enlarges.
class Grid {
  constructor(place, rows, columns) {
    Object.assign(this, { place, rows, columns });
    this.canvas = element("canvas", { width: columns, height: rows });
    place.append(this.canvas);
  }

  paint(values, colour) {
    const context = this.canvas.getContext("2d"), pixels = context.createImageData(this.columns, this.rows);
    values.forEach((value, i) => pixels.data.set([...colour(value), 255], 4 * i));
    context.putImageData(pixels, 0, 0);
  }

  clear() { this.place.querySelectorAll("i").forEach((mark) => mark.remove()); }

  mark([row, rows], [column, columns], kind = "") {
    const mark = element("i", { className: kind });
    Object.assign(mark.style, { top: `${100 * row / this.rows}%`, height: `${100 * rows / this.rows}%`,
      left: `${100 * column / this.columns}%`, width: `${100 * columns / this.columns}%` });
    this.place.append(mark);
  }

  // Calls `visit(row, column)` for the cell under the pointer, and for those that arrow keys lead to.
  onVisit(visit) {
    let row = Math.floor(this.rows / 2), column = Math.floor(this.columns / 2);
    const go = (r, c) => {
      row = Math.min(Math.max(r, 0), this.rows - 1);
      column = Math.min(Math.max(c, 0), this.columns - 1);
      visit(row, column);
    };
    const point = (event) => {
      const box = this.place.getBoundingClientRect();
      go(Math.floor((event.clientY - box.top) / box.height * this.rows), Math.floor((event.clientX - box.left) / box.width * this.columns));
    };
    this.place.addEventListener("pointermove", point);
    this.place.addEventListener("pointerdown", point);
    this.place.addEventListener("focus", () => { if (this.place.matches(":focus-visible")) go(row, column); });
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    this.place.addEventListener("keydown", (event) => {
      if (!(event.key in steps)) return;
      event.preventDefault();
      go(row + steps[event.key][0], column + steps[event.key][1]);
    });
  }
}

const grey = (value) => { const level = Math.round(255 * Math.min(Math.max(value, 0), 1)); return [level, level, level]; };
const heat = (largest) => (value) => [0, 1, 2].map((step) => Math.round(255 * Math.min(Math.max(3 * value / largest - step, 0), 1)));
const range = ([first, count]) => count === 1 ? `${first}` : `${first} to ${first + count - 1}`;

function startInspection() {
  const { rows, columns, input, operators } = data.inspection;
  const wide = columns.cells.length, outputs = columns.outputs.length;
  const left = new Grid(byId("inspection-input"), rows.cells.length, wide);
  const right = new Grid(byId("inspection-output"), rows.outputs.length, outputs);
  const below = new Grid(byId("inspection-gradient"), rows.cells.length, wide);
  let operator = operators[0];
  byId("inspection-window").textContent = data.inspection.window;

  function choose(name) {
    operator = operators.find((one) => one.name === name);
    const brightest = Math.max(...operator.values, 1), largest = Math.max(...operator.gradient);
    right.paint(operator.values, (value) => grey(value / brightest));
    below.paint(operator.gradient, heat(largest));
    fillBar(byId("inspection-bar"), largest);
  }
  function clear() { for (const grid of [left, right, below]) grid.clear(); }

  function showOutput(row, column) {
    clear();
    const number = row * outputs + column, winner = operator.winners?.[number];
    right.mark([row, 1], [column, 1]);
    left.mark(rows.outputs[row], columns.outputs[column]);
    let text = `${operator.title} of output (${row}, ${column}): ${operator.values[number]}. Its window: rows ${range(rows.outputs[row])}, ` +
      `columns ${range(columns.outputs[column])}.`;
    if (winner !== undefined) {
      const at = [Math.floor(winner / wide), winner % wide];
      left.mark([at[0], 1], [at[1], 1], "winner");
      text += ` Winner: pixel (${at[0]}, ${at[1]}), whose gradient is ${operator.gradient[winner]}.`;
    } else {
      text += " No winner: every pixel of the window has a share.";
    }
    byId("reading").textContent = text;
  }
  right.onVisit(showOutput);
  left.onVisit((row, column) => {
    clear();
    const number = row * wide + column, [r, c] = [rows.cells[row], columns.cells[column]];
    left.mark([row, 1], [column, 1]);
    below.mark([row, 1], [column, 1]);
    if (r[1] * c[1] > 0) right.mark(r, c);
    byId("reading").textContent = `Pixel (${row}, ${column}): ${input[number]}. Read by ${r[1] * c[1]} ` +
      `${r[1] * c[1] === 1 ? "output" : "outputs"}. Gradient of the sum of all outputs: ${operator.gradient[number]}.`;
  });
  left.paint(input, grey);
  choices(byId("inspection-choice"), operators.map((one) => [one.name, one.title]), (name) => { choose(name); showOutput(...middle); });
  const middle = [Math.floor(rows.outputs.length / 2), Math.floor(outputs / 2)];
  choose("max");
  showOutput(...middle);
}

function duration(seconds) { return seconds < 1e-3 ? `${(seconds * 1e6).toFixed(0)} \u00b5s` : `${(seconds * 1e3).toFixed(2)} ms`; }

function startSpeed() {
  if (!data.speed) {
    byId("speed").remove();
    return;
  }
  byId("speed-summary").textContent = `${data.speed.summary}. ${data.speed.limit}.`;
  const cases = data.speed.cases, longest = Math.max(2, ...cases.map((one) => one.ratio));
  const head = (text, properties = {}) => element("th", { scope: "col", textContent: text, ...properties });
  const body = cases.map((one) => {
    const share = element("b", { className: one.ratio > 1.5 ? "far" : "" });
    share.style.width = `${100 * one.ratio / longest}%`;
    const track = element("span", { className: "track" }, share);
    track.style.setProperty("--limit", `${100 / longest}%`);
    const number = (text, name) => {
      const cell = element("td", { className: "number", textContent: text });
      cell.dataset.head = name;
      return cell;
    };
    return element("tr", {}, element("td", { className: "name" }, one.name,
      element("span", { className: "problem", textContent: `${one.problem}, ${one.scalar}, ${one.map}` })),
      element("td", { className: "ratio" }, track), number(one.ratio.toFixed(2), "ratio"), number(duration(one.seconds), "time"),
      number(duration(one.limit_seconds), "limit"));
  });
  byId("speed-table").append(element("thead", {}, element("tr", {}, head("case"), head("time over the limit, which is the line at 1"), head("ratio", { className: "number" }),
    head("time", { className: "number" }), head("limit", { className: "number" }))), element("tbody", {}, ...body));
}

function startShapes() {
  const row = (kind, cells) => element("tr", {}, ...cells.map((text) => element(kind, { textContent: text })));
  byId("shape-table").append(element("thead", {}, row("th", ["operator", "window", "in", "out"])),
    element("tbody", {}, ...data.shapes.map((cells) => row("td", cells))));
}

fillTexts();
fillPictures();
startComparison();
startBeta();
startInspection();
startSpeed();
startShapes();
