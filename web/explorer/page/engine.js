// The library, compiled to WebAssembly: the only place that computes windows, sizes, values and sentences.

// The order of Operator, Kind, Option and List in ../settings.hpp.
const OPERATORS = ["max", "min", "sum", "avg", "smooth-max", "lp"];
const GEOMETRIES = ["windowed", "adaptive", "global"];
const OPTIONS = [
  "op", "geometry", "padding", "ceil", "keepdims", "ties", "nan", "empty", "countPadding", "divisor", "beta",
  "padMode", "p",
];
const LISTS = ["shape", "axes", "kernel", "stride", "before", "after", "dilation", "outputSize"];
// The order of PaddingRule, Ties, Nan, Empty and PadMode in include/ndpool.
const WORDS = {
  op: OPERATORS,
  geometry: GEOMETRIES,
  padding: ["given", "same", "same_lower", "valid"],
  ties: ["standard", "first", "all", "split"],
  nan: ["propagate", "ignore"],
  empty: ["error", "identity"],
  padMode: ["zero", "ignore"],
};
// The order of the arrays and texts in ../exports.cpp.
const ARRAYS = [
  "x", "gy", "y", "indices", "gx", "outputShape", "visibleShape", "pictureShape", "pictureBegin", "grounds", "cells",
  "seen", "boxes",
];
const TEXTS = ["sentence", "arithmetic", "warnings"];
const OUTCOMES = ["fine", "no numbers", "nothing"];

let library;

export async function loadEngine(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const module = await WebAssembly.compile(bytes);
  // The C library names calls of the system that nothing here makes.
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = () => { throw new Error(`the library called ${name}`); };
  }
  library = (await WebAssembly.instantiate(module, imports)).exports;
  library._initialize();
}

const view = (which) => {
  const number = ARRAYS.indexOf(which);
  return new Float64Array(library.memory.buffer, library.array_data(number), library.array_size(number));
};
const read = (which) => Array.from(view(which));
const readText = (which) => {
  const number = TEXTS.indexOf(which);
  const bytes = new Uint8Array(library.memory.buffer, library.text_data(number), library.text_size(number));
  return new TextDecoder().decode(bytes);
};

/// The numbers of a call as calls.js and the library have them: only what the operator and its windows take.
export function evaluate(call, values, gradient) {
  library.begin();
  for (const [name, value] of Object.entries(call)) {
    if (LISTS.includes(name)) for (const entry of value) library.append(LISTS.indexOf(name), entry);
    else library.set(OPTIONS.indexOf(name), name in WORDS ? WORDS[name].indexOf(value) : Number(value));
  }
  const outcome = OUTCOMES[library.prepare()];
  const result = { outcome, sentence: readText("sentence") };
  if (outcome === "nothing") return result;
  view("x").set(values(view("x").length));
  view("gy").set(gradient(view("gy").length));
  library.run();
  for (const name of ARRAYS) result[name] = read(name);
  result.arithmetic = readText("arithmetic").split("\n").filter(Boolean);
  result.warnings = readText("warnings").split("\n").filter(Boolean);
  return result;
}

const records = (count, address, names) => {
  const numbers = new Float64Array(library.memory.buffer, address, count * names.length);
  return Array.from({ length: count }, (_, i) =>
    Object.fromEntries(names.map((name, k) => [name, numbers[i * names.length + k]])));
};

/// The window of an output of the last call: its taps with what they fall on, and what its weights are divided by.
export function lookAtOutput(output) {
  const count = library.look_at_output(output);
  return {
    taps: records(count, library.taps_data(), ["at", "ground", "cell", "weight"]),
    scale: library.window_scale(),
    padded: library.window_padded(),
    winner: library.window_winner(),
  };
}

/// The outputs of the last call that see a cell.
export function lookAtCell(cell) {
  const count = library.look_at_cell(cell);
  return records(count, library.seeing_data(), ["output", "weight", "share"]);
}
