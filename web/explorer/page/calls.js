// The call that is shown, in the languages that have it. Everything is float64, and says so.
import { exact } from "./values.js";
import { paddingText } from "./state.js";

const FUNCTIONS = { max: "max", min: "min", sum: "sum", avg: "avg", "smooth-max": "smooth_max", lp: "lp" };
const prefixOf = (call) => (call.geometry === "windowed" ? "" : `${call.geometry}_`);
const hasIndices = (call) => ["max", "min"].includes(call.op);

/// Numbers as a language writes them, in lines of at most 100 letters.
function listed(values, write, indent) {
  const lines = [""];
  for (const [i, value] of values.entries()) {
    const word = write(value) + (i + 1 < values.length ? ", " : "");
    if (lines[lines.length - 1].length + word.length > 100 - indent.length) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines.map((line) => line.trimEnd()).join(`\n${indent}`);
}

function real(value, notANumber, infinity) {
  if (Number.isNaN(value)) return notANumber;
  if (!Number.isFinite(value)) return value < 0 ? `-${infinity}` : infinity;
  return exact(value) === "-0" ? "-0.0" : exact(value);
}

// C++ -----------------------------------------------------------------------------------------------------------------

function cppDescription(call) {
  const list = (name, values) => `.${name} = {${values.join(", ")}}`;
  const parts = [];
  if (call.outputSize) parts.push(list("output_size", call.outputSize));
  if (call.kernel) parts.push(list("kernel", call.kernel));
  if (call.stride) parts.push(list("stride", call.stride));
  const rules = { same: "same_upper", same_lower: "same_lower", valid: "valid" };
  if (call.padding) parts.push(`.padding = ndpool::PaddingRule::${rules[call.padding]}`);
  if (call.before) parts.push(list("padding", call.before.map((pad, i) => `{${pad}, ${call.after[i]}}`)));
  if (call.dilation) parts.push(list("dilation", call.dilation));
  if (call.axes) parts.push(list("axes", call.axes));
  if (call.keepdims) parts.push(".keepdims = true");
  if (call.ceil) parts.push(".ceil_mode = true");
  return `{${parts.join(", ")}}`;
}

function cppOptions(call) {
  const parts = [];
  if (call.ties) parts.push(`.ties = ndpool::Ties::${call.ties}`);
  if (call.nan) parts.push(`.nan = ndpool::Nan::${call.nan}`);
  if ("beta" in call) parts.push(`.beta = ${cppReal(call.beta)}`);
  if (call.padMode) parts.push(`.pad_mode = ndpool::PadMode::${call.padMode}`);
  if ("countPadding" in call) parts.push(".count_include_pad = false");
  if ("divisor" in call) parts.push(`.divisor = ${call.divisor}`);
  if (call.empty) parts.push(`.empty = ndpool::Empty::${call.empty}`);
  return parts.length ? `, {${parts.join(", ")}}` : "";
}

const cppReal = (value) => real(value, "NAN", "INFINITY");

export function cppCall(call, x, gradient, result) {
  const p = call.op === "lp" ? `${cppReal(call.p)}, ` : "";
  const pool = `ndpool::${prefixOf(call)}${FUNCTIONS[call.op]}_pool(${p}${cppDescription(call)}${cppOptions(call)})`;
  const indices = hasIndices(call);
  return `#include <ndpool/ndpool.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {  // float64, as the explorer computes
  const ndpool::Shape shape = {${call.shape.join(", ")}};
  const std::vector<double> x = {${listed(x, cppReal, "                                 ")}};
  const auto pool = ${pool};
  const ndpool::Shape out = pool.output_shape(shape);
  std::vector<double> y(${result.y.length}), gy(y.size(), 1), gx(x.size());
${gradient === "ones" ? "" : "  std::iota(gy.begin(), gy.end(), 1);\n"}${
  indices ? "  std::vector<ndpool::Index> indices(y.size());\n" : ""
}  pool.forward(ndpool::view(x, shape), ndpool::view(y, out)${indices ? ", ndpool::view(indices, out)" : ""});
  pool.vjp(ndpool::view(x, shape), ndpool::view(gy, out), ndpool::view(gx, shape));
  for (double value : y) std::printf("%.17g ", value);
${indices ? '  std::puts("");\n  for (ndpool::Index index : indices) std::printf("%lld ", static_cast<long long>(index));\n' : ""
}  std::puts("");
  for (double value : gx) std::printf("%.17g ", value);
  std::puts("");
}
`;
}

// Python and torch ----------------------------------------------------------------------------------------------------

const tuple = (values) => `(${values.join(", ")}${values.length === 1 ? "," : ""})`;

/// The arguments after x of ndpool's functions, in Python and in ndpool.torch.
function pythonArguments(call, infinity) {
  const parts = [];
  if (call.op === "lp") parts.push(real(call.p, "float('nan')", infinity));
  if (call.kernel) parts.push(tuple(call.kernel));
  if (call.outputSize) parts.push(tuple(call.outputSize));
  if (call.stride) parts.push(`stride=${tuple(call.stride)}`);
  if (call.padding) parts.push(`padding="${call.padding}"`);
  if (call.before) parts.push(`padding=${tuple(call.before.map((pad, i) => tuple([pad, call.after[i]])))}`);
  if (call.dilation) parts.push(`dilation=${tuple(call.dilation)}`);
  if (call.axes) parts.push(`axes=${tuple(call.axes)}`);
  if (call.ceil) parts.push("ceil_mode=True");
  if (call.keepdims) parts.push("keepdims=True");
  if (call.ties) parts.push(`ties="${call.ties}"`);
  if (call.nan) parts.push(`nan="${call.nan}"`);
  if ("beta" in call) parts.push(`beta=${real(call.beta, "float('nan')", infinity)}`);
  if (call.padMode) parts.push(`pad_mode="${call.padMode}"`);
  if ("countPadding" in call) parts.push("count_include_pad=False");
  if ("divisor" in call) parts.push(`divisor=${call.divisor}`);
  if (call.empty) parts.push(`empty="${call.empty}"`);
  return parts;
}

export function pythonCall(call, x, gradient) {
  const name = `ndpool.${prefixOf(call)}${FUNCTIONS[call.op]}_pool`;
  const parts = pythonArguments(call, "numpy.inf");
  const indices = hasIndices(call);
  const write = (value) => real(value, "numpy.nan", "numpy.inf");
  return `import ndpool  # float64, as the explorer computes
import numpy

x = numpy.array([${listed(x, write, "                 ")}], dtype="f8")
x = x.reshape(${tuple(call.shape)})
${indices ? "y, indices" : "y"} = ${name}(${["x", ...parts, ...(indices ? ["return_indices=True"] : [])].join(", ")})
gy = ${gradient === "ones" ? "numpy.ones(y.shape)" : "numpy.arange(1.0, y.size + 1).reshape(y.shape)"}
gx = ${name}.vjp(${["x", "gy", ...parts].join(", ")})
print(y${indices ? ", indices" : ""}, gx, sep="\\n")
`;
}

/// Why torch.nn.functional has no call that gives these bits; empty if it has.
function whyNotTorch(call, x) {
  const axes = call.axes ?? call.shape.map((_, axis) => axis), batch = call.shape.length - axes.length;
  if (!["max", "avg"].includes(call.op)) return `torch.nn.functional has no ${FUNCTIONS[call.op]} pool with this meaning`;
  if (call.geometry === "global") return "torch.nn.functional has no global pools";
  if (axes.some((axis, i) => axis !== batch + i)) return "torch pools the last axes only";
  if (call.ties) return "torch always gives the gradient to the first maximum";
  if (call.nan) return "torch cannot ignore NaN";
  if (!x.every(Number.isFinite)) return "torch takes another winner among NaNs";
  if (call.empty) return "torch has no such option";
  if (call.padding) return "torch has no such padding";
  if ((call.before ?? []).some((pad, i) => pad !== call.after[i])) return "torch pads both sides alike";
  if ((call.before ?? []).some((pad, i) => 2 * pad > call.kernel[i])) return "torch pads by half a window at most";
  if (call.op === "avg" && call.dilation) return "torch's averages have no dilation";
  if ("divisor" in call && axes.length === 1) return "torch has no divisor on one axis";
  return "";
}

/// torch's own function and its arguments.
function torchsOwn(call) {
  const count = (call.axes ?? call.shape).length;
  const parts = [call.kernel ? tuple(call.kernel) : tuple(call.outputSize)];
  if (call.stride) parts.push(`stride=${tuple(call.stride)}`);
  if (call.before) parts.push(`padding=${tuple(call.before)}`);
  if (call.dilation) parts.push(`dilation=${tuple(call.dilation)}`);
  if (call.ceil) parts.push("ceil_mode=True");
  if ("countPadding" in call) parts.push("count_include_pad=False");
  if ("divisor" in call) parts.push(`divisor_override=${call.divisor}`);
  if (call.op === "max") parts.push("return_indices=True");
  return { name: `${prefixOf(call)}${FUNCTIONS[call.op]}_pool${count}d`, parts, addsAxis: count === call.shape.length };
}

export function torchCall(call, x, gradient) {
  const why = whyNotTorch(call, x);
  const own = why ? null : torchsOwn(call);
  const indices = hasIndices(call);
  const write = (value) => real(value, "torch.nan", "torch.inf");
  let header, expression;
  if (own) {
    header = call.op === "max"
      ? "import torch\nimport torch.nn.functional as F"
      : "import ndpool.torch.functional as F  # torch's own adds in another order\nimport torch";
    expression = `F.${own.name}(${own.addsAxis ? "x[None]" : "x"}, ${own.parts.join(", ")})`;
  } else {
    const parts = pythonArguments(call, "torch.inf");
    header = `import ndpool.torch.functional as F  # ${why}\nimport torch`;
    expression = `F.${prefixOf(call)}${FUNCTIONS[call.op]}_pool(${
      ["x", ...parts, ...(indices ? ["return_indices=True"] : [])].join(", ")})`;
  }
  const drop = own?.addsAxis
    ? indices ? "y, indices = y[0], indices[0]\n" : "y = y[0]\n"
    : "";
  return `${header}

x = torch.tensor([${listed(x, write, "                  ")}], dtype=torch.float64)  # as the explorer computes
x = x.reshape(${tuple(call.shape)}).requires_grad_()
${indices ? "y, indices" : "y"} = ${expression}
${drop}gy = ${gradient === "ones"
  ? "torch.ones_like(y)"
  : "torch.arange(1, y.numel() + 1, dtype=y.dtype).reshape(y.shape)"}
y.backward(gy)
print(y.detach()${indices ? ", indices" : ""}, x.grad, sep="\\n")
`;
}

// The shell -----------------------------------------------------------------------------------------------------------

export function shellCall(call, x, gradient, result) {
  const op = (call.geometry === "windowed" ? "" : `${call.geometry}-`) + call.op;
  const parts = [];
  if (call.kernel) parts.push(`--kernel ${call.kernel}`);
  if (call.outputSize) parts.push(`--output-size ${call.outputSize}`);
  if (call.stride) parts.push(`--stride ${call.stride}`);
  if (paddingText(call)) parts.push(`--padding ${paddingText(call)}`);
  if (call.dilation) parts.push(`--dilation ${call.dilation}`);
  if (call.axes) parts.push(`--axes ${call.axes}`);
  if (call.ceil) parts.push("--ceil");
  if (call.keepdims) parts.push("--keepdims");
  if (call.ties) parts.push(`--ties ${call.ties}`);
  if (call.nan) parts.push(`--nan ${call.nan}`);
  if ("beta" in call) parts.push(`--beta=${exact(call.beta)}`);
  if ("p" in call) parts.push(`--p ${exact(call.p)}`);
  if (call.padMode) parts.push(`--pad-mode ${call.padMode}`);
  if ("countPadding" in call) parts.push("--count-exclude-pad");
  if ("divisor" in call) parts.push(`--divisor=${call.divisor}`);
  if (call.empty) parts.push(`--empty ${call.empty}`);
  const options = parts.length ? ` ${parts.join(" ")}` : "";
  const numbers = `[${x.map((value) => real(value, "n", "i")).join(", ")}]`;
  const shape = tuple(result.visibleShape);
  const gy = gradient === "ones"
    ? `numpy.ones(${shape})` : `numpy.arange(1.0, ${result.y.length + 1}).reshape(${shape})`;
  return `# float64, as the explorer computes
python3 -c "import numpy; n, i = numpy.nan, numpy.inf
numpy.save('x.npy', numpy.array(${numbers}, 'f8').reshape(${tuple(call.shape)}))
numpy.save('gy.npy', ${gy})"
ndpool ${op} x.npy -o y.npy${options}${hasIndices(call) ? " --indices indices.npy" : ""}
ndpool vjp ${op} x.npy --gradient gy.npy -o gx.npy${options}
python3 -c "import numpy
for name in ['y'${hasIndices(call) ? ", 'indices'" : ""}, 'gx']: print(numpy.load(name + '.npy'))"
`;
}

export const LANGUAGES = [
  { name: "Python", make: pythonCall },
  { name: "C++", make: cppCall },
  { name: "torch", make: torchCall },
  { name: "Shell", make: shellCall },
];
