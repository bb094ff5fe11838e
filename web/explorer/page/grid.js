// Arrays as grids of cells that the pointer and the arrow keys walk over, with windows drawn on top.
import { exact, short } from "./values.js";

const GROUNDS = ["cell", "padding", "overhang"];
export const COLOURS = 8;
const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/// Slices, rows and columns of a shape of one to three axes.
function planes(shape) {
  const [slices, rows, columns] = [...Array(3 - shape.length).fill(1), ...shape];
  return { slices, rows, columns };
}

export const placeOf = (flat, shape, begin = []) => {
  const position = [];
  for (let axis = shape.length - 1; axis >= 0; --axis) {
    position.unshift((flat % shape[axis]) + (begin[axis] ?? 0));
    flat = Math.floor(flat / shape[axis]);
  }
  return position;
};

/// 0 to 1 from the smallest to the largest finite value: how strongly a cell is tinted.
function tints(values) {
  const finite = values.filter(Number.isFinite);
  const low = Math.min(...finite), high = Math.max(...finite);
  return values.map((value) => (Number.isFinite(value) && high > low ? (value - low) / (high - low) : 0));
}

/// A grid of `shape`. `cells[i]` says what the i-th is: {ground, value, name, colour}; `begin` numbers rows and columns.
/// `listener` has enter(i), leave(), activate(i) and edit(i, text).
export class Grid {
  constructor(root, label, listener) {
    this.root = root;
    this.label = label;
    this.listener = listener;
    this.focused = 0;
    this.items = [];
    root.addEventListener("pointerover", (event) => this.visit(event, (i) => listener.enter?.(i, event)));
    root.addEventListener("pointerdown", (event) => this.visit(event, (i) => listener.press?.(i, event)));
    root.addEventListener("pointerleave", () => listener.leave?.());
    root.addEventListener("focusin", (event) => this.visit(event, (i) => { this.focused = i; listener.activate?.(i); }));
    root.addEventListener("dblclick", (event) => this.visit(event, (i) => listener.edit?.(i, "")));
    root.addEventListener("keydown", (event) => this.visit(event, (i) => this.key(event, i)));
  }

  visit(event, use) {
    const cell = event.target.closest?.("[data-i]");
    if (cell && this.root.contains(cell)) use(Number(cell.dataset.i));
  }

  draw(shape, cells, begin = []) {
    const { slices, rows, columns } = planes(shape);
    const hadFocus = this.root.contains(document.activeElement) && document.activeElement.matches("[data-i]");
    Object.assign(this, { shape, slices, rows, columns, cells });
    this.focused = Math.min(this.focused, Math.max(0, cells.length - 1));
    this.root.replaceChildren();
    this.items = [];
    this.overlays = [];
    const strength = tints(cells.map((cell) => cell.value ?? NaN));
    const [sliceBegin, rowBegin, columnBegin] = [...Array(3 - shape.length).fill(0), ...shape.map((_, a) => begin[a] ?? 0)];
    for (let slice = 0; slice < slices; ++slice) {
      const name = slices > 1 || shape.length === 3 ? `${this.label}, slice ${slice + sliceBegin}` : this.label;
      const grid = element("div", { role: "grid", "aria-label": name, class: "cells" });
      grid.style.setProperty("--columns", columns);
      grid.append(this.rulers(columns, columnBegin));
      for (let row = 0; row < rows; ++row) {
        const line = element("div", { role: "row", class: "row" });
        line.append(element("span", { class: "ruler", "aria-hidden": "true" }, String(row + rowBegin)));
        for (let column = 0; column < columns; ++column) {
          const i = (slice * rows + row) * columns + column;
          line.append(this.cell(i, cells[i], strength[i]));
        }
        grid.append(line);
      }
      const overlay = document.createElementNS(SVG, "svg");
      overlay.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
      overlay.setAttribute("preserveAspectRatio", "none");
      overlay.setAttribute("aria-hidden", "true");
      grid.append(overlay);
      this.overlays.push(overlay);
      const box = element("div", { class: "slice" });
      if (shape.length === 3) box.append(element("p", { class: "slice-name", "aria-hidden": "true" }, `slice ${slice + sliceBegin}`));
      box.append(grid);
      this.root.append(box);
    }
    if (this.items[this.focused]) this.items[this.focused].tabIndex = 0;
    if (hadFocus) this.items[this.focused]?.focus();
  }

  rulers(columns, begin) {
    const line = element("div", { class: "row", "aria-hidden": "true" }, element("span", { class: "ruler" }));
    for (let column = 0; column < columns; ++column)
      line.append(element("span", { class: "ruler" }, String(column + begin)));
    return line;
  }

  cell(i, { ground = 0, value, name, colour }, strength) {
    const text = value === undefined ? "" : short(value);
    const cell = element("div", { role: "gridcell", class: GROUNDS[ground], "data-i": i, tabindex: -1, "aria-label": name });
    cell.style.setProperty("--tint", strength.toFixed(3));
    if (Number.isNaN(value)) cell.classList.add("nan");
    if (text.length > 4) cell.classList.add("long");
    cell.append(element("span", { class: "value" }, text));
    if (colour !== undefined) {
      cell.style.setProperty("--own", `var(--window-${colour % COLOURS})`);
      cell.classList.add("coloured");
    }
    this.items.push(cell);
    return cell;
  }

  /// Outlines of windows: [{first: [...], last: [...], colour, strong}], in positions of the grid.
  outline(boxes) {
    for (const overlay of this.overlays) overlay.replaceChildren();
    const lift = (list) => [...Array(3 - list.length).fill(0), ...list];
    for (const { first, last, colour, strong } of boxes) {
      const [slice, row, column] = lift(first), [lastSlice, lastRow, lastColumn] = lift(last);
      for (let s = slice; s <= lastSlice; ++s) {
        const inset = strong ? 0.02 : 0.05 + 0.03 * (colour % 4);
        const rectangle = document.createElementNS(SVG, "rect");
        const set = (name, number) => rectangle.setAttribute(name, number);
        set("x", column + inset);
        set("y", row + inset);
        set("width", lastColumn - column + 1 - 2 * inset);
        set("height", lastRow - row + 1 - 2 * inset);
        set("rx", 0.12);
        set("class", strong ? "window strong" : "window");
        rectangle.style.stroke = `var(--window-${colour % COLOURS})`;
        this.overlays[s]?.append(rectangle);
      }
    }
  }

  /// Marks cells: a map from their number to {classes, note, weight}.
  mark(marks) {
    for (const [i, cell] of this.items.entries()) {
      const mark = marks.get(i);
      cell.classList.toggle("tap", mark?.tap ?? false);
      cell.classList.toggle("winner", mark?.winner ?? false);
      cell.classList.toggle("current", mark?.current ?? false);
      cell.style.setProperty("--weight", mark?.strength ?? 0);
      cell.querySelector(".note")?.remove();
      if (mark?.note) cell.append(element("span", { class: "note", "aria-hidden": "true" }, mark.note));
    }
  }

  key(event, i) {
    const plane = this.rows * this.columns;
    const moves = {
      ArrowLeft: i % this.columns > 0 ? -1 : 0,
      ArrowRight: i % this.columns < this.columns - 1 ? 1 : 0,
      ArrowUp: i % plane >= this.columns ? -this.columns : 0,
      ArrowDown: i % plane < plane - this.columns ? this.columns : 0,
      PageUp: i >= plane ? -plane : 0,
      PageDown: i + plane < this.items.length ? plane : 0,
      Home: -(i % this.columns),
      End: this.columns - 1 - (i % this.columns),
    };
    if (event.target.matches("input")) return;
    if (event.key in moves) {
      event.preventDefault();
      this.items[i].tabIndex = -1;
      const next = this.items[i + moves[event.key]];
      next.tabIndex = 0;
      next.focus();
    } else if (event.key === " " && this.listener.paint) {
      event.preventDefault();
      this.listener.paint(i);
    } else if ((event.key === "Enter" || /^[-0-9.]$/.test(event.key)) && this.listener.edit) {
      event.preventDefault();
      this.listener.edit(i, event.key === "Enter" ? "" : event.key);
    }
  }

  /// Lets the user type over a cell; `commit(text)` gets what was typed.
  edit(i, text, commit) {
    const cell = this.items[i];
    const field = element("input", { class: "edit", "aria-label": `new value of ${this.cells[i].name.split(":")[0]}`, inputmode: "text" });
    field.value = text || exact(this.cells[i].value);
    cell.append(field);
    field.focus();
    if (!text) field.select();
    let isOpen = true;
    const close = (keeps, refocuses) => {
      if (!isOpen) return;
      isOpen = false;
      const typed = field.value;
      field.remove();
      if (refocuses) cell.focus();
      if (keeps) commit(typed);
    };
    field.addEventListener("blur", () => close(true, false));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" || event.key === "Escape") {
        event.preventDefault();
        close(event.key === "Enter", true);
      }
    });
  }
}
