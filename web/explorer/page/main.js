// Puts the page together: state -> library -> grids, sentences and calls.
import { loadEngine, evaluate, lookAtOutput, lookAtCell } from "./engine.js";
import { callOf, defaultState, gradientFor, linkOf, stateOf, valuesFor } from "./state.js";
import { Controls } from "./controls.js";
import { Grid, placeOf } from "./grid.js";
import { EXAMPLES } from "./examples.js";
import { LANGUAGES } from "./calls.js";
import { tellCell, tellGround, tellOutput } from "./inspector.js";
import { copy, say } from "./clipboard.js";
import { brief, exact, isNumber, parseNumber, short } from "./values.js";

const WASM = "/* explorer.wasm */";
const MAX_OUTLINED = 64;
const by = (id) => document.getElementById(id);

let state = defaultState();
let result = {};
let pinned = { kind: "output", i: 0 };
let language = 0;

const grids = {
  input: new Grid(by("input"), "Input", {
    enter: (i, event) => (isDrawing() && event.buttons === 1 ? paint(i) : look("input", i)),
    press: (i, event) => {
      if (!isDrawing()) return;
      event.preventDefault();
      event.target.releasePointerCapture?.(event.pointerId);  // a finger would stay on the first cell
      paint(i);
    },
    leave: () => look(pinned.kind, pinned.i),
    activate: (i) => pin("input", i),
    paint: (i) => { if (isDrawing()) paint(i); },
    edit: (i, text) => editCell(i, text),
  }),
  output: new Grid(by("output"), "Output", {
    enter: (i) => look("output", i), leave: () => look(pinned.kind, pinned.i), activate: (i) => pin("output", i),
  }),
  gradient: new Grid(by("gradient"), "Gradient", {
    enter: (i) => look("gradient", i), leave: () => look(pinned.kind, pinned.i), activate: (i) => pin("gradient", i),
  }),
};
const controls = new Controls(document.querySelector("form"), () => refresh());

// What is shown -------------------------------------------------------------------------------------------------------

/// What the page itself must refuse, since the library takes whole numbers of 64 bits.
function whyNotWhole(call) {
  const names = { before: "padding before", after: "padding after", outputSize: "number of bins", shape: "length" };
  for (const [name, values] of Object.entries(call)) {
    if (!Array.isArray(values)) continue;
    const wrong = values.findIndex((value) => !Number.isSafeInteger(value));
    if (wrong < 0) continue;
    const value = values[wrong], axis = (name === "shape" ? undefined : call.axes)?.[wrong] ?? wrong;
    const rule = Number.isInteger(value) ? `at most ${Number.MAX_SAFE_INTEGER} here` : "a whole number";
    return `${names[name] ?? name} on axis ${axis} must be ${rule}${Number.isNaN(value) ? "" : `, not ${value}`}`;
  }
  return "divisor" in call && !Number.isSafeInteger(call.divisor) ? "divisor must be a whole number" : "";
}

function refresh() {
  const call = callOf(state), wrong = whyNotWhole(call);
  result = wrong
    ? { outcome: "nothing", sentence: wrong }
    : evaluate(call, valuesFor(state), gradientFor(state));
  if (result.x) state.x = result.x;
  controls.show(state, result.x ?? state.x);
  showSentences(call);
  if (result.outcome !== "nothing") showGrids();
  showCall(call);
  document.body.dataset.outcome = result.outcome;
  // Browsers complain about addresses that change with every step of a slider.
  clearTimeout(refresh.timer);
  refresh.timer = setTimeout(() => history.replaceState(null, "", linkOf(state)), 200);
}

function showSentences() {
  const fill = (id, lines) => by(id).replaceChildren(...(lines ?? []).map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
  const sizes = (shape) => (shape.length ? shape.join(" × ") : "one number");
  by("shapes").textContent = result.outputShape ? `${sizes(state.shape)} → ${sizes(result.visibleShape)}` : "";
  fill("arithmetic", result.arithmetic);
  fill("warnings", result.warnings);
  by("sentence").hidden = !result.sentence;
  if (by("sentence").textContent !== result.sentence) by("sentence").textContent = result.sentence;
}

function showGrids() {
  const { x, y, gx, grounds, cells, seen, pictureShape, pictureBegin, outputShape } = result;
  const isFine = result.outcome === "fine";
  const place = (i, shape, begin) => `[${placeOf(i, shape, begin).join(", ")}]`;
  const kinds = ["", "padding", "overhang"];
  grids.input.draw(pictureShape, grounds.map((ground, i) => ({
    ground,
    value: ground === 0 ? x[cells[i]] : undefined,
    name: ground === 0
      ? `input ${place(i, pictureShape, pictureBegin)}: ${short(x[cells[i]])}${seen[i] ? "" : ", in no window"}`
      : `${kinds[ground]} ${place(i, pictureShape, pictureBegin)}`,
  })), pictureBegin);
  grids.input.items.forEach((cell, i) => cell.classList.toggle("unseen", grounds[i] === 0 && seen[i] === 0));
  const outputs = Array.from({ length: result.gy.length }, (_, i) => i);
  grids.output.draw(outputShape, outputs.map((i) => ({
    value: isFine ? y[i] : undefined,
    colour: outputs.length <= MAX_OUTLINED ? i : undefined,
    name: `output ${place(i, outputShape)}: ${isFine ? short(y[i]) : "no value"}`,
  })));
  grids.gradient.draw(state.shape, x.map((_, i) => ({
    value: isFine ? gx[i] : undefined,
    name: `gradient ${place(i, state.shape)}: ${isFine ? short(gx[i]) : "no value"}`,
  })));
    document.querySelector(".panels").classList.toggle("deep", state.shape.length === 3);
  for (const grid of Object.values(grids)) fit(grid);
  const last = { input: grounds.length, output: outputs.length, gradient: x.length }[pinned.kind];
  if (pinned.i >= last) pinned = { kind: "output", i: 0 };
  look(pinned.kind, pinned.i);
}

/// Cells as large as the room allows.
function fit(grid) {
  const room = grid.root.clientWidth - 24;
  const side = Math.max(26, Math.min(grid.slices > 1 ? 38 : 46, Math.floor(room / Math.max(1, grid.columns)) - 2));
  grid.root.style.setProperty("--side", `${side}px`);
}

const boxOf = (output, strong) => {
  const rank = state.shape.length, numbers = result.boxes.slice(2 * rank * output, 2 * rank * (output + 1));
  return { first: numbers.filter((_, i) => i % 2 === 0), last: numbers.filter((_, i) => i % 2 === 1), colour: output, strong };
};

function outlines(current) {
  const count = result.gy.length;
  const all = by("all-windows").checked && count <= MAX_OUTLINED ? Array.from({ length: count }, (_, i) => boxOf(i, false)) : [];
  return [...all, ...current.map((output) => boxOf(output, true))];
}

// Looking -------------------------------------------------------------------------------------------------------------

function look(kind, i) {
  if (result.outcome === "nothing" || result.gy.length === 0 || result.x.length === 0) return;
  if (kind === "output") lookOutput(i);
  else if (kind === "gradient") lookInput(result.cells.indexOf(i), i);
  else if (result.grounds[i] === 0) lookInput(i, result.cells[i]);
  else {
    markAll(new Map(), new Map(), new Map());
    grids.input.outline(outlines([]));
    tellGround(by("inspector"), result.grounds[i]);
  }
}

function markAll(input, output, gradient) {
  grids.input.mark(input);
  grids.output.mark(output);
  grids.gradient.mark(gradient);
}

function lookOutput(output) {
  const window = lookAtOutput(output);
  const largest = Math.max(...window.taps.map((tap) => Math.abs(tap.weight)), 1e-300);
  const weights = new Set(window.taps.filter((tap) => tap.ground === 0).map((tap) => tap.weight));
  const isFine = result.outcome === "fine";
  const input = new Map(), gradient = new Map();
  for (const tap of window.taps) {
    const isWinner = tap.cell === window.winner && tap.cell >= 0;
    const strength = isFine ? Math.abs(tap.weight) / largest : 0;
    const note = isFine && tap.ground === 0 && weights.size > 1 && tap.weight !== 0 ? brief(tap.weight) : "";
    input.set(tap.at, { tap: true, winner: isWinner, strength, note });
    if (tap.cell >= 0) gradient.set(tap.cell, { tap: true, strength });
  }
  markAll(input, new Map([[output, { current: true }]]), gradient);
  grids.input.outline(outlines([output]));
  tellOutput(by("inspector"), state, result, output, window);
}

function lookInput(at, cell) {
  const seeing = lookAtCell(cell);
  const largest = Math.max(...seeing.map((one) => Math.abs(one.weight)), 1e-300);
  const output = new Map(seeing.map((one) => [one.output, {
    tap: true, strength: Math.abs(one.weight) / largest, note: result.outcome === "fine" ? brief(one.weight) : "",
  }]));
  markAll(new Map([[at, { current: true }]]), output, new Map([[cell, { current: true }]]));
  grids.input.outline(outlines(seeing.map((one) => one.output)));
  tellCell(by("inspector"), state, result, cell, seeing);
}

function pin(kind, i) {
  pinned = { kind, i };
  look(kind, i);
}

// Changing values -----------------------------------------------------------------------------------------------------

const isDrawing = () => by("drawing").checked;

function setCell(i, value) {
  const cell = result.cells[i];
  if (cell < 0 || result.outcome === "nothing") return;
  state.x[cell] = value;
  refresh();
}

function paint(i) {
  const text = by("brush").value;
  if (isNumber(text)) setCell(i, parseNumber(text));
}

function editCell(i, text) {
  if (result.cells[i] < 0) return;
  grids.input.edit(i, text, (typed) => {
    if (isNumber(typed)) setCell(i, parseNumber(typed));
    else say(`“${typed}” is not a number`);
  });
}

// Calls and links -----------------------------------------------------------------------------------------------------

function showCall(call) {
  by("call").textContent = result.outcome === "fine"
    ? LANGUAGES[language].make(call, result.x, state.gradient, result)
    : `There is no call to copy: ${result.sentence}.`;
  by("copy-call").disabled = result.outcome !== "fine";
}

function showLanguages() {
  by("languages").replaceChildren(...LANGUAGES.map(({ name }, i) => {
    const tab = document.createElement("button");
    Object.assign(tab, { type: "button", textContent: name, id: `language-${i}`, tabIndex: i === language ? 0 : -1 });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", i === language);
    tab.setAttribute("aria-controls", "call");
    tab.addEventListener("click", () => choose(i));
    return tab;
  }));
  by("call").setAttribute("aria-labelledby", `language-${language}`);
}

function choose(i) {
  const hadFocus = by("languages").contains(document.activeElement);
  language = (i + LANGUAGES.length) % LANGUAGES.length;
  showLanguages();
  if (hadFocus) by(`language-${language}`).focus();
  showCall(callOf(state));
}

function openLink(link) {
  const { state: read, unknown } = stateOf(link);
  state = read;
  pinned = { kind: "output", i: 0 };
  refresh();
  if (unknown.length) say(`This page does not know “${unknown.join("”, “")}” in its link`);
}

function start() {
  by("examples").append(new Option("choose …", ""), ...EXAMPLES.map(([name, link]) => new Option(name, link)));
  by("examples").addEventListener("change", ({ target }) => {
    if (target.value) location.hash = target.value;
    target.value = "";
  });
  by("copy-link").addEventListener("click", () => copy(location.href.split("#")[0] + linkOf(state), "Link"));
  by("copy-call").addEventListener("click", () => copy(by("call").textContent, `${LANGUAGES[language].name} call`));
  by("all-windows").addEventListener("change", () => look(pinned.kind, pinned.i));
  by("drawing").addEventListener("change", () => by("input").classList.toggle("drawing", isDrawing()));
  by("languages").addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") choose(language + 1);
    else if (event.key === "ArrowLeft") choose(language - 1);
  });
  addEventListener("hashchange", () => openLink(location.hash));
  addEventListener("resize", () => Object.values(grids).forEach((grid) => grid.items.length && fit(grid)));
  showLanguages();
  openLink(location.hash);
}

/// For scripts and for the tests of this page: what is shown, and the calls as they would be copied.
globalThis.explorer = {
  open: openLink,
  shown: () => ({
    ...result, link: linkOf(state), call: callOf(state), state: structuredClone(state),
    numbers: Object.fromEntries(["x", "y", "gx", "gy", "indices"].map((name) => [name, (result[name] ?? []).map(exact)])),
  }),
  window: (output) => lookAtOutput(output),
  cell: (cell) => lookAtCell(cell),
  calls: () => Object.fromEntries(LANGUAGES.map(({ name, make }) => [name, make(callOf(state), result.x, state.gradient, result)])),
};

await loadEngine(WASM);
start();
document.body.dataset.ready = "yes";
