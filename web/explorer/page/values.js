// Numbers as text, and ways to fill an array.

const NAMES = { nan: NaN, inf: Infinity, "+inf": Infinity, "-inf": -Infinity, infinity: Infinity, "∞": Infinity };

/// NaN for what is no number, too: isNumber tells them apart.
export function parseNumber(text) {
  const word = String(text).trim().toLowerCase().replace("−", "-");
  if (word in NAMES) return NAMES[word];
  return word === "" ? NaN : Number(word);
}
export const isNumber = (text) => {
  const word = String(text).trim().toLowerCase().replace("−", "-");
  return word in NAMES || (word !== "" && !Number.isNaN(Number(word)));
};

/// All digits: reads back to the same bits.
export function exact(value) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  return Object.is(value, -0) ? "-0" : String(value);
}

/// What fits a cell.
export function short(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e4 || size < 1e-3)) return value.toExponential(1).replace("e+", "e").replace("-", "−");
  return String(Number(value.toPrecision(size >= 1000 ? 4 : size < 0.1 ? 2 : 3))).replace("-", "−");
}

/// What fits below a value in a cell.
export const brief = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(2))).replace("-", "−") : short(value));

export const ramp = (count, first = 0) => Array.from({ length: count }, (_, i) => i + first);
const draw = (count, make) => Array.from({ length: count }, make);
const tenths = () => Math.round(Math.random() * 200 - 100) / 10;

export const FILLS = {
  random: (count) => draw(count, tenths),
  ramp: (count) => ramp(count),
  ties: (count) => draw(count, () => Math.floor(Math.random() * 3)),
  nan: (count) => draw(count, () => (Math.random() < 0.15 ? NaN : tenths())),
  zeros: (count) => Array(count).fill(0),
};
