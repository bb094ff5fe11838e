// What the page shows, and the link that keeps it. The words are those of the one-line problems of tests/cases:
//   #max&shape=6,6&kernel=3,3&stride=2,2&padding=1:1,0:2&ceil&ties=split&x=1,2,nan,...
import { parseNumber, exact, ramp } from "./values.js";

export const SIZES = ["kernel", "stride", "before", "after", "dilation", "outputSize"];
/// Values where none are given.
const DIGITS = [..."314159265358979323846264338327950288"].map(Number);
const FALLBACK = { kernel: 2, stride: null, before: 0, after: 0, dilation: 1, outputSize: 2 };

export function defaultState() {
  return {
    op: "max", geometry: "windowed", shape: [6, 6], pooled: [true, true], kernel: [3, 3], stride: [2, 2],
    before: [1, 1], after: [1, 1], dilation: [1, 1], outputSize: [3, 3], padding: "given", ceil: false, keepdims: false,
    ties: "standard", nan: "propagate", empty: "error", countPadding: true, divisor: null, beta: 1, padMode: "zero",
    p: 2, gradient: "ones",
    x: [...DIGITS],
  };
}

/// Another number of axes: the sizes of the last ones stay.
export function setRank(state, rank) {
  const fit = (list, fallback) => [...Array(Math.max(0, rank - list.length)).fill(fallback), ...list.slice(-rank)];
  state.shape = fit(state.shape, 3);
  state.pooled = fit(state.pooled, true);
  for (const name of SIZES) state[name] = fit(state[name], FALLBACK[name]);
}

/// The values for an array of `count` cells.
export const valuesFor = (state) => (count) =>
  ramp(count).map((i) => (i < state.x.length ? state.x[i] : DIGITS[i % DIGITS.length]));

export const gradientFor = (state) => (count) => (state.gradient === "ones" ? Array(count).fill(1) : ramp(count, 1));

/// True if the option has a meaning for the operator and the windows that are chosen.
export function takes(state, option) {
  const windowed = state.geometry === "windowed";
  switch (option) {
    case "ties": return ["max", "min"].includes(state.op) || (state.op === "lp" && state.p === Infinity);
    case "nan": return ["max", "min"].includes(state.op);
    case "empty": return windowed && state.op !== "sum";
    case "countPadding": return windowed && state.op === "avg" && state.divisor === null;
    case "divisor": return windowed && state.op === "avg";
    case "beta": return state.op === "smooth-max";
    case "padMode": return windowed && state.op === "smooth-max";
    case "p": return state.op === "lp";
    case "ceil": case "padding": case "kernel": case "stride": case "dilation": return windowed;
    case "before": case "after": return windowed && state.padding === "given";
    case "outputSize": return state.geometry === "adaptive";
    case "keepdims": return state.geometry === "global";
    default: return true;
  }
}

/// What is called, with defaults left out: the input of engine.js and of calls.js.
export function callOf(state) {
  const axes = state.pooled.flatMap((pooled, axis) => (pooled ? [axis] : []));
  const pick = (list) => axes.map((axis) => list[axis]);
  const call = { op: state.op, geometry: state.geometry, shape: state.shape };
  if (axes.length < state.shape.length) call.axes = axes;
  if (takes(state, "kernel")) {
    call.kernel = pick(state.kernel);
    if (pick(state.stride).some((s) => s !== null))
      call.stride = axes.map((axis) => state.stride[axis] ?? state.kernel[axis]);
    if (state.padding !== "given") call.padding = state.padding;
    else if ([...pick(state.before), ...pick(state.after)].some((pad) => pad !== 0)) {
      call.before = pick(state.before);
      call.after = pick(state.after);
    }
    if (pick(state.dilation).some((d) => d !== 1)) call.dilation = pick(state.dilation);
    if (state.ceil) call.ceil = true;
  }
  if (takes(state, "outputSize")) call.outputSize = pick(state.outputSize);
  if (takes(state, "keepdims") && state.keepdims) call.keepdims = true;
  for (const [option, standard] of
    [["ties", "standard"], ["nan", "propagate"], ["empty", "error"], ["countPadding", true], ["divisor", null],
      ["padMode", "zero"]])
    if (takes(state, option) && state[option] !== standard) call[option] = state[option];
  if (takes(state, "beta")) call.beta = state.beta;
  if (takes(state, "p")) call.p = state.p;
  return call;
}

/// The padding of a call in the words of the command and of the links.
export function paddingText(call) {
  if (call.padding) return call.padding;
  if (!call.before) return "";
  const isEven = call.before.every((pad, i) => pad === call.after[i]);
  return call.before.map((pad, i) => (isEven ? pad : `${pad}:${call.after[i]}`)).join(",");
}

export function linkOf(state) {
  const call = callOf(state);
  const prefix = state.geometry === "windowed" ? "" : `${state.geometry}-`;
  const words = [prefix + state.op, `shape=${call.shape}`];
  for (const [word, name] of [["kernel", "kernel"], ["stride", "stride"], ["dilation", "dilation"],
    ["output_size", "outputSize"], ["axes", "axes"]])
    if (call[name]) words.push(`${word}=${call[name]}`);
  if (paddingText(call)) words.push(`padding=${paddingText(call)}`);
  if (call.ceil) words.push("ceil");
  if (call.keepdims) words.push("keepdims");
  for (const [word, name] of [["ties", "ties"], ["nan", "nan"], ["empty", "empty"], ["divisor", "divisor"],
    ["pad_mode", "padMode"]])
    if (name in call) words.push(`${word}=${call[name]}`);
  if ("countPadding" in call) words.push("exclude_pad");
  if ("beta" in call) words.push(`beta=${exact(call.beta)}`);
  if ("p" in call) words.push(`p=${exact(call.p)}`);
  if (state.gradient !== "ones") words.push(`gradient=${state.gradient}`);
  const count = state.shape.reduce((product, length) => product * length, 1);
  words.push(`x=${(count >= 0 && count <= 4096 ? valuesFor(state)(count) : []).map(exact)}`);
  return `#${words.join("&")}`;
}

/// The state of a link, and what of it is not understood.
export function stateOf(link) {
  const state = defaultState(), unknown = [];
  const [operator, ...words] = decodeURIComponent(link.replace(/^#/, "")).split("&");
  if (!operator) return { state, unknown };
  const [, prefix, op] = /^(?:(adaptive|global)-)?(.*)$/.exec(operator);
  state.geometry = prefix ?? "windowed";
  const given = new Map(words.map((word) => [word.split("=")[0], word.slice(word.indexOf("=") + 1)]));
  const numbers = (text) => text.split(",").filter(Boolean).map(parseNumber);
  const take = (word, use) => {
    if (given.has(word) && use(given.get(word)) !== false) given.delete(word);
  };
  const oneOf = (name, choices) => (text) => (choices.includes(text) ? void (state[name] = text) : false);
  if (["max", "min", "sum", "avg", "smooth-max", "lp"].includes(op)) state.op = op;
  else unknown.push(operator);
  take("shape", (text) => {
    state.shape = numbers(text).slice(0, 3);
    state.pooled = state.shape.map(() => true);
    for (const name of SIZES) state[name] = state.shape.map(() => FALLBACK[name]);
  });
  const rank = state.shape.length;
  const count = ["kernel", "output_size"].map((word) => (given.get(word) ?? "").split(",").filter(Boolean).length);
  const pooledCount = Math.max(...count) || rank;
  let axes = state.shape.map((_, axis) => axis).slice(-pooledCount);
  take("axes", (text) => { axes = numbers(text).map((axis) => (axis < 0 ? axis + rank : axis)); });
  state.pooled = state.shape.map((_, axis) => axes.includes(axis));
  const spread = (name) => (text) => numbers(text).forEach((value, i) => { state[name][axes[i]] = value; });
  take("kernel", spread("kernel"));
  take("stride", spread("stride"));
  take("dilation", spread("dilation"));
  take("output_size", spread("outputSize"));
  take("padding", (text) => {
    if (["same", "same_lower", "valid"].includes(text)) return void (state.padding = text);
    text.split(",").forEach((pair, i) => {
      const sides = pair.split(":").map(parseNumber);
      state.before[axes[i]] = sides[0];
      state.after[axes[i]] = sides[sides.length - 1];
    });
  });
  take("ceil", () => { state.ceil = true; });
  take("keepdims", () => { state.keepdims = true; });
  take("exclude_pad", () => { state.countPadding = false; });
  take("ties", oneOf("ties", ["standard", "first", "all", "split"]));
  take("nan", oneOf("nan", ["propagate", "ignore"]));
  take("empty", oneOf("empty", ["error", "identity"]));
  take("pad_mode", oneOf("padMode", ["zero", "ignore"]));
  take("gradient", oneOf("gradient", ["ones", "count"]));
  for (const name of ["divisor", "beta", "p"]) take(name, (text) => { state[name] = parseNumber(text); });
  take("x", (text) => { state.x = numbers(text); });
  unknown.push(...given.keys());
  return { state, unknown };
}
