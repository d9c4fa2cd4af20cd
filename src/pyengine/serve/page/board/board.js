// A board as a grid that a screen reader and a keyboard can walk through.

import { s } from "../dom.js";
import { UNIT, geometryOf } from "./geometry.js";
import { ground, piece, styleOf } from "./pieces.js";

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** A board in an element. A board without `onCell` is a picture. */
export class Board {
  constructor(host, { label, hasLabels = true, onCell = null, onPoint = null }) {
    Object.assign(this, { host, label, hasLabels, onCell, onPoint });
    this.shape = null;
    this.focused = [0, 0];
    this.under = s("g", { "aria-hidden": "true", class: "under" });
    this.over = s("g", { "aria-hidden": "true", class: "over" });
  }

  /** Show a position: `marked` cells are part of a move that is being made. */
  show(view, { players = view.players, marked = [], label = this.label } = {}) {
    const { board } = view;
    const shape = `${board.kind} ${board.rows} ${board.columns}`;
    if (shape !== this.shape) this.build(board);
    this.shape = shape;
    this.svg.setAttribute("aria-label", label);
    const style = styleOf(board, players);
    const names = cellNames(view);
    const empty = board.cells.flat().filter((sign) => sign === ".").length;
    this.hasHints = this.onCell && board.kind === "squares" && names.size < empty / 2;
    board.cells.forEach((row, r) =>
      row.forEach((sign, c) => this.fill(r, c, sign, style, view, names, marked)),
    );
    this.draw([], []);
  }

  fill(r, c, sign, style, view, names, marked) {
    const group = this.cells[r][c];
    const x = this.geometry.x(r, c);
    const y = this.geometry.y(r);
    const isLast = view.last?.[0] === r && view.last?.[1] === c;
    const move = names.get(`${r},${c}`);
    const player = "xo".indexOf(sign);
    group.replaceChildren(group.firstChild);
    const each = piece(sign, style, x, y);
    if (each) group.append(each);
    if (move !== undefined && !each && this.hasHints) group.append(hint(x, y));
    if (isLast && each) group.append(lastMark(style, player, x, y));
    if (marked.some(([mr, mc]) => mr === r && mc === c)) group.append(frame(x, y));
    group.classList.toggle("legal", move !== undefined);
    if (!this.onCell) return;
    const owner = player < 0 ? (sign === "." ? "empty" : sign) : view.players[player];
    const state = isLast ? ", last move" : move === undefined ? "" : ", legal move";
    const name = move ?? cellName(view.board, r, c);
    group.setAttribute("aria-label", `${name}, ${owner}${state}`);
  }

  /** Draw figures below and above the pieces. */
  draw(under, over) {
    this.under.replaceChildren(...under);
    this.over.replaceChildren(...over);
  }

  build(board) {
    const geometry = geometryOf(board, this.hasLabels);
    this.geometry = geometry;
    const role = this.onCell ? "grid" : "img";
    this.svg = s("svg", { viewBox: `0 0 ${geometry.width} ${geometry.height}`, role });
    this.cells = board.cells.map((row, r) => row.map((_, c) => this.cell(r, c)));
    this.focused = [board.rows >> 1, board.columns >> 1];
    const rows = this.cells.map((row) => s("g", { role: this.onCell && "row" }, row));
    this.svg.append(ground(board, geometry, this.hasLabels), this.under, ...rows, this.over);
    if (this.onCell) this.listen();
    this.host.replaceChildren(this.svg);
  }

  cell(r, c) {
    const x = this.geometry.x(r, c) - UNIT / 2;
    const y = this.geometry.y(r) - UNIT / 2;
    const place = s("rect", { x, y, width: UNIT, height: UNIT, class: "place" });
    if (!this.onCell) return s("g", {}, place);
    return s("g", { role: "gridcell", tabindex: -1, class: "point", "data-cell": `${r},${c}` }, place);
  }

  listen() {
    const cellOf = (event) =>
      event.target.closest("[data-cell]")?.dataset.cell.split(",").map(Number) ?? null;
    this.svg.addEventListener("click", (event) => cellOf(event) && this.onCell(cellOf(event)));
    this.svg.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus
    this.svg.addEventListener("pointerover", (event) => this.onPoint?.(cellOf(event)));
    this.svg.addEventListener("pointerleave", () => this.onPoint?.(null));
    this.svg.addEventListener("focusin", (event) => this.onPoint?.(cellOf(event)));
    this.svg.addEventListener("focusout", () => this.onPoint?.(null));
    this.svg.addEventListener("keydown", (event) => this.key(event, cellOf(event)));
    this.point(...this.focused).setAttribute("tabindex", 0);
  }

  key(event, cell) {
    if (!cell || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = ARROWS[event.key];
    if (event.key === "Enter" || event.key === " ") this.onCell(cell);
    else if (step) this.focus(cell[0] + step[0], cell[1] + step[1]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  focus(r, c) {
    if (!this.cells[r]?.[c]) return;
    this.point(...this.focused).setAttribute("tabindex", -1);
    this.focused = [r, c];
    this.point(r, c).setAttribute("tabindex", 0);
    this.point(r, c).focus();
  }

  point(r, c) {
    return this.cells[r][c];
  }
}

/** Return the names of the legal moves by cell; a piece that can move has its square's name. */
function cellNames(view) {
  const names = new Map();
  for (const { move, cell, from } of view.legal) {
    if (from) names.set(`${from}`, cellName(view.board, ...from));
    else if (cell) names.set(`${cell}`, move);
  }
  return names;
}

function cellName(board, r, c) {
  const row = board.row_labels[r];
  const column = board.column_labels[c];
  return row ? `${column}${row}` : `column ${column || c + 1}, row ${board.rows - r}`;
}

/** Where few empty cells are legal, as in Othello, they are marked. */
const hint = (x, y) => s("circle", { cx: x, cy: y, r: UNIT * 0.1, class: "hint-dot" });

function lastMark(style, player, x, y) {
  if (style === "letters") return frame(x, y);
  return s("circle", { cx: x, cy: y, r: UNIT * 0.16, class: `last player-${player}` });
}

function frame(x, y) {
  const half = UNIT * 0.46;
  return s("rect", { x: x - half, y: y - half, width: 2 * half, height: 2 * half, class: "marked" });
}
