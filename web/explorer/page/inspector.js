// What is under the pointer, in words.
import { exact, short } from "./values.js";
import { placeOf } from "./grid.js";

const MAX_TERMS = 16;
const place = (flat, shape, begin) => `[${placeOf(flat, shape, begin).join(", ")}]`;

const line = (text, kind = "p") => {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
};

/// The value of a window as the sum, the maximum, ... of its taps.
function formula(state, values, window, y) {
  const shown = values.slice(0, MAX_TERMS), rest = values.length > MAX_TERMS;
  const list = (write, separator) => shown.map(write).join(separator) + (rest ? `${separator}…` : "");
  const zeros = state.padMode === "zero" && window.padded > 0 ? ` + ${window.padded} exp(0)` : "";
  const beta = short(state.beta);
  if (values.length === 0) return `a window without a cell gives ${short(y)}`;
  switch (state.op) {
    case "max": case "min": return `${state.op}(${list(short, ", ")}) = ${short(y)}`;
    case "sum": return `${list(short, " + ")} = ${short(y)}`;
    case "avg": return `(${list(short, " + ")}) / ${window.scale} = ${short(y)}`;
    case "smooth-max": return `log(${list((v) => `exp(${beta} · ${short(v)})`, " + ")}${zeros}) / ${beta} = ${short(y)}`;
    default: return state.p === Infinity
      ? `max(${list((v) => `|${short(v)}|`, ", ")}) = ${short(y)}`
      : `(${list((v) => `|${short(v)}|^${short(state.p)}`, " + ")})^(1/${short(state.p)}) = ${short(y)}`;
  }
}

const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

export function tellOutput(root, state, result, output, window) {
  const real = window.taps.filter((tap) => tap.ground === 0);
  const name = `Output ${place(output, result.outputShape)}`;
  const grounds = [1, 2].map((ground) => window.taps.filter((tap) => tap.ground === ground).length);
  const parts = [count(real.length, "tap on a cell", "taps on cells")];
  if (grounds[0]) parts.push(`${grounds[0]} on padding`);
  if (grounds[1]) parts.push(`${grounds[1]} on overhang`);
  const lines = [line(`${name}: ${parts.join(", ")}`, "h3")];
  if (result.outcome === "fine") {
    const values = real.map((tap) => result.x[tap.cell]);
    const equation = line(formula(state, values, window, result.y[output]));
    equation.className = "formula";
    lines.push(equation);
    if (window.winner >= 0)
      lines.push(line(`Winner: input ${place(window.winner, state.shape)}, index ${result.indices[output]}.`));
    const weights = [...new Set(real.map((tap) => short(tap.weight)))];
    if (weights.length === 1) lines.push(line(`Every weight dy/dx is ${weights[0]}.`));
    else if (weights.length) lines.push(line("The weights dy/dx are written in the cells."));
    lines.push(line(`All digits: ${exact(result.y[output])}; gradient ${exact(result.gy[output])}`));
  }
  root.replaceChildren(...lines);
}

export function tellCell(root, state, result, cell, seeing) {
  const lines = [line(`Input ${place(cell, state.shape)} = ${short(result.x[cell])}`, "h3")];
  if (seeing.length === 0) lines.push(line("No window sees this cell: its gradient is 0."));
  else {
    const outputs = seeing.slice(0, MAX_TERMS).map((one) => place(one.output, result.outputShape)).join(", ");
    lines.push(line(`Seen by ${count(seeing.length, "output", "outputs")}: ${outputs}${seeing.length > MAX_TERMS ? ", …" : ""}.`));
    if (result.outcome === "fine") {
      const terms = seeing.slice(0, MAX_TERMS).map((one) => `${short(one.weight)} · ${short(result.gy[one.output])}`);
      const sum = line(`gradient = ${terms.join(" + ")}${seeing.length > MAX_TERMS ? " + …" : ""} = ${short(result.gx[cell])}`);
      sum.className = "formula";
      lines.push(sum);
    }
  }
  if (result.outcome === "fine") lines.push(line(`All digits: ${exact(result.x[cell])}; gradient ${exact(result.gx[cell])}`));
  root.replaceChildren(...lines);
}

export function tellGround(root, ground) {
  root.replaceChildren(line(ground === 1 ? "Padding" : "Overhang", "h3"),
    line(ground === 1
      ? "No cell of the array. It never wins a maximum; averages count it unless told otherwise; smooth max takes it as 0 unless told otherwise."
      : "Behind the padding: only ceil mode gets here, and it never counts for anything."));
}
