// Pieces and the ground of a board. Players differ in shape as well as in colour.

import { s } from "../dom.js";
import { UNIT, hexagon, starPoints } from "./geometry.js";

/** Return how the pieces of two players look: "letters", "discs" or "stones". */
export function styleOf(board, players) {
  if (players[0] === "X") return "letters";
  return board.kind === "columns" ? "discs" : "stones";
}

/** Return a piece, or null for an empty cell. */
export function piece(sign, style, x, y) {
  if (sign === ".") return null;
  const player = "xo".indexOf(sign);
  if (player < 0) {
    return s("text", { x, y, class: "piece-text" }, sign);
  }
  if (style === "letters") return letter(player, x, y);
  const radius = UNIT * (style === "discs" ? 0.41 : 0.46);
  const disc = s("circle", { cx: x, cy: y, r: radius, class: `${style} player-${player}` });
  if (style === "stones") return disc;
  const ring = s("circle", { cx: x, cy: y, r: radius * 0.55, class: `ring player-${player}` });
  return s("g", {}, disc, player === 0 ? null : ring);
}

function letter(player, x, y) {
  const a = UNIT * 0.27;
  if (player === 1) return s("circle", { cx: x, cy: y, r: UNIT * 0.3, class: "letter player-1" });
  const d = `M${x - a} ${y - a}L${x + a} ${y + a}M${x + a} ${y - a}L${x - a} ${y + a}`;
  return s("path", { d, class: "letter player-0" });
}

/** Return the ground of a board: its surface, lines or squares, and coordinates. */
export function ground(board, geometry, hasLabels) {
  const parts = board.kind === "points" ? lines(geometry) : cells(board, geometry);
  return s("g", { "aria-hidden": "true" }, parts, hasLabels ? labels(board, geometry) : null);
}

function lines(geometry) {
  const { rows, columns, left, top, x, y } = geometry;
  const size = { width: columns * UNIT, height: rows * UNIT };
  let d = "";
  for (let r = 0; r < rows; r++) d += `M${x(r, 0)} ${y(r)}H${x(r, columns - 1)}`;
  for (let c = 0; c < columns; c++) d += `M${x(0, c)} ${y(0)}V${y(rows - 1)}`;
  return [
    s("rect", { x: left, y: top, ...size, rx: 4, class: "surface" }),
    s("path", { d, class: "line" }),
    ...starPoints(geometry).map(([r, c]) =>
      s("circle", { cx: x(r, c), cy: y(r), r: 3, class: "star" }),
    ),
  ];
}

function cells({ kind }, geometry) {
  const { rows, columns, left, top, x, y } = geometry;
  const parts = [];
  if (kind === "columns") {
    const size = { width: columns * UNIT, height: rows * UNIT };
    parts.push(s("rect", { x: left, y: top, ...size, rx: 8, class: "frame" }));
  }
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) parts.push(cell(kind, x(r, c), y(r)));
  }
  return parts;
}

function cell(kind, x, y) {
  if (kind === "columns") return s("circle", { cx: x, cy: y, r: UNIT * 0.41, class: "hole" });
  if (kind === "hexagons") return s("polygon", { points: hexagon(x, y), class: "cell" });
  const half = UNIT / 2;
  return s("rect", { x: x - half, y: y - half, width: UNIT, height: UNIT, class: "cell" });
}

function labels(board, { rows, columns, left, height, x, y }) {
  const mark = (text, px, py) => s("text", { x: px, y: py, class: "coordinate" }, text);
  const indent = (r) => x(r, 0) - UNIT / 2 - left;
  return [
    ...board.row_labels.map((text, r) => mark(text, left / 2 + indent(r), y(r))),
    ...board.column_labels.map((text, c) =>
      mark(text, x(rows - 1, Math.min(c, columns - 1)), height - 10),
    ),
  ];
}
