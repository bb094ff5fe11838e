// The form: reads and shows a state, and asks for a new picture on each change.
import { SIZES, setRank, takes } from "./state.js";
import { FILLS, exact, isNumber, parseNumber } from "./values.js";

const CHOICES = {
  op: [["max", "max"], ["min", "min"], ["sum", "sum"], ["avg", "average"], ["smooth-max", "smooth max"], ["lp", "Lp"]],
  geometry: [["windowed", "sliding"], ["adaptive", "adaptive"], ["global", "global"]],
  rank: [["1", "1-D"], ["2", "2-D"], ["3", "3-D"]],
};
const ROWS = [
  ["shape", "length", 1, 14], ["kernel", "kernel", 1, 8], ["stride", "stride", 1, 8], ["before", "padding before", 0, 6],
  ["after", "padding after", 0, 6], ["dilation", "dilation", 1, 5], ["outputSize", "bins", 1, 12],
];
const FILL_NAMES = { random: "Random", ramp: "Ramp", ties: "Ties", nan: "Some NaN", zeros: "Zeros" };

const html = (text) => {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
};

export class Controls {
  constructor(form, changed) {
    this.form = form;
    this.changed = changed;
    for (const [name, choices] of Object.entries(CHOICES))
      form.querySelector(`[data-choices=${name}]`).append(...choices.map(([value, label]) =>
        html(`<label><input type="radio" name="${name}" value="${value}"><span>${label}</span></label>`)));
    form.querySelector("#fills").append(...Object.entries(FILL_NAMES).map(([name, label]) =>
      html(`<button type="button" data-fill="${name}">${label}</button>`)));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => this.read(event.target));
    form.addEventListener("click", (event) => {
      const fill = event.target.dataset?.fill;
      if (!fill) return;
      this.state.x = FILLS[fill](this.count());
      this.changed();
    });
  }

  count() {
    const count = this.state.shape.reduce((product, length) => product * length, 1);
    return Number.isSafeInteger(count) && count > 0 && count <= 4096 ? count : 0;
  }

  read(field) {
    const state = this.state, { name, value } = field;
    if (field.dataset.size) this.readSize(field);
    else if (field.dataset.slider) state[field.dataset.slider] = Number(value);
    else if (field.dataset.pooled) state.pooled[field.dataset.pooled] = field.checked;
    else if (name === "rank") setRank(state, Number(value));
    else if (name === "countPadding" || name === "ceil" || name === "keepdims") state[name] = field.checked;
    else if (name === "divisor") state.divisor = value === "" ? null : Number(value);
    else if (name === "beta" || name === "p") state[name] = parseNumber(value);
    else if (field.id === "values") state.x = this.readValues(value);
    else if (name in state) state[name] = value;
    else return;
    this.changed(field);
  }

  readSize(field) {
    const { size, axis } = field.dataset;
    this.state[size][axis] = field.value === "" ? (size === "stride" ? null : NaN) : Number(field.value);
  }

  readValues(text) {
    const words = text.split(/[\s,;]+/).filter(Boolean);
    return words.filter(isNumber).map(parseNumber);
  }

  /// Shows the state; the field that the user is typing in keeps its text.
  show(state, values) {
    this.state = state;
    const { form } = this;
    for (const name of ["op", "geometry"]) form.querySelector(`[name=${name}][value="${state[name]}"]`).checked = true;
    form.querySelector(`[name=rank][value="${state.shape.length}"]`).checked = true;
    for (const name of ["padding", "ties", "nan", "empty", "padMode", "gradient"]) form.elements[name].value = state[name];
    for (const name of ["ceil", "keepdims", "countPadding"]) form.elements[name].checked = state[name];
    this.showText(form.elements.divisor, state.divisor ?? "");
    for (const name of ["beta", "p"]) {
      this.showText(form.elements[name], exact(state[name]));
      form.querySelector(`[data-slider=${name}]`).value = state[name];
    }
    this.showText(form.querySelector("#values"), values.map(exact).join(" "));
    for (const line of form.querySelectorAll("[data-option]")) line.hidden = !takes(state, line.dataset.option);
    this.showAxes();
  }

  showText(field, text) {
    if (document.activeElement !== field) field.value = text;
  }

  showAxes() {
    const { state } = this, root = this.form.querySelector("#axes");
    const layout = JSON.stringify([state.shape.length, state.geometry, state.pooled, state.padding]);
    if (layout !== this.layout) {
      this.layout = layout;
      const focus = document.activeElement?.id;
      root.replaceChildren(html(this.table()));
      if (focus) document.getElementById(focus)?.focus();
    }
    for (const field of root.querySelectorAll("[data-size]")) {
      const value = state[field.dataset.size][field.dataset.axis];
      const shown = value === null && field.type === "range" ? state.kernel[field.dataset.axis] : value;
      this.showText(field, Number.isNaN(shown) ? "" : (shown ?? ""));
      if (field.dataset.size === "stride") field.placeholder = "kernel";
    }
  }

  table() {
    const { state } = this, axes = state.shape.map((_, axis) => axis);
    const cell = (size, label, low, high) => (axis) => {
      if (size !== "shape" && !state.pooled[axis]) return "<td></td>";
      const name = `${label}, axis ${axis}`, ids = `data-size="${size}" data-axis="${axis}"`;
      return `<td><input type="number" step="1" id="${size}-${axis}" ${ids} aria-label="${name}">` +
        `<input type="range" id="${size}-${axis}-slider" min="${low}" max="${high}" ${ids} aria-label="${name}, slider"></td>`;
    };
    const rows = ROWS.filter(([size]) => !SIZES.includes(size) || takes(state, size)).map(([size, label, ...limits]) =>
      `<tr><th scope="row">${label}</th>${axes.map(cell(size, label, ...limits)).join("")}</tr>`);
    const pooled = axes.map((axis) =>
      `<th scope="col"><label><input type="checkbox" id="pooled-${axis}" data-pooled="${axis}" ${
        state.pooled[axis] ? "checked" : ""}> axis ${axis}</label></th>`);
    return `<table><thead><tr><td class="hint">pooled</td>${pooled.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
  }
}
