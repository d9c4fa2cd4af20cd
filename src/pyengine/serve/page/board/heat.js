// Figures of an analysis on the board: heat maps, the best moves, a line as numbered stones.

import { s } from "../dom.js";
import { percent, proofName, signed } from "../format.js";
import { UNIT, cellNamed } from "./geometry.js";
import { piece, styleOf } from "./pieces.js";

const LEAST_SHARE = 0.02; // of the best move's visits; moves below it get no number
const MOST_NUMBERS = 12;

export const HEATS = [
  ["visits", "Visits"],
  ["prior", "Prior"],
  ["q", "Value Q"],
  ["ownership", "Ownership"],
  ["none", "No heat map"],
];

/** Return what lies under and over the pieces for a result. */
export function heatOf(kind, result, geometry) {
  if (kind === "none" || !result) return { under: [], over: [] };
  if (kind === "ownership") {
    const under = result.ownership ? ownership(result.ownership, geometry) : [];
    return { under: [], over: [...under, ...arrows(result, geometry)] };
  }
  const moves = result.moves.filter((each) => each.cell && (each.visits > 0 || kind === "prior"));
  const largest = (name) => Math.max(...moves.map((each) => each[name]), 1e-9);
  const scale = { visits: largest("visits"), prior: largest("prior") };
  const under = moves.map((each) => spot(kind, each, scale, geometry));
  const numbered = moves
    .filter((each) => each.proven !== null || share(kind, each, scale) >= LEAST_SHARE)
    .slice(0, MOST_NUMBERS);
  const isBest = (each) => each === result.moves[0];
  const over = numbered.flatMap((each) => number(kind, each, isBest(each), geometry));
  return { under, over: [...arrows(result, geometry), ...over] };
}

const share = (kind, each, scale) =>
  kind === "prior" ? each.prior / scale.prior : each.visits / scale.visits;

function spot(kind, each, scale, { x, y }) {
  const [r, c] = each.cell;
  const size = share(kind, each, scale);
  const name = kind === "q" ? (each.q >= 0 ? "spot good" : "spot bad") : "spot";
  const strength = kind === "q" ? Math.abs(each.q ?? 0) : Math.sqrt(size);
  const opacity = (0.12 + 0.78 * Math.min(strength, 1)).toFixed(2);
  return s("circle", { cx: x(r, c), cy: y(r), r: UNIT * 0.45, class: name, "fill-opacity": opacity });
}

function number(kind, each, isBest, { x, y }) {
  const [r, c] = each.cell;
  const [cx, cy] = [x(r, c), y(r)];
  const text = (words, dy, name) => s("text", { x: cx, y: cy + dy, class: name }, words);
  const ring = s("circle", { cx, cy, r: UNIT * 0.45, class: "best" });
  const [upper, lower] = wordsOf(kind, each);
  return [
    s("circle", { cx, cy, r: UNIT * 0.43, class: "chip" }),
    ...(isBest ? [ring] : []),
    text(upper, lower ? -4 : 1, "figure"),
    ...(lower ? [text(lower, 9, "figure small")] : []),
  ];
}

function wordsOf(kind, each) {
  if (each.proven !== null && kind !== "prior") return [proofName(each.proven), "proven"];
  if (kind === "prior") return [percent(each.prior), null];
  if (each.q === null) return [each.move, null];
  if (kind === "q") return [signed(each.q), null];
  return [percent((each.q + 1) / 2), short(each.visits)];
}

const short = (count) => (count < 1000 ? `${count}` : `${(count / 1000).toPrecision(2)}k`);

/** Black's points are filled squares, White's are hollow; their size says how sure it is. */
function ownership(owned, { x, y }) {
  return owned.flatMap((row, r) =>
    row.map((value, c) => {
      const half = UNIT * 0.3 * Math.sqrt(Math.abs(value));
      const place = { x: x(r, c) - half, y: y(r) - half, width: 2 * half, height: 2 * half };
      return s("rect", { ...place, class: `owned player-${value > 0 ? 0 : 1}` });
    }),
  );
}

/** Moves of pieces are arrows. */
function arrows(result, { x, y }) {
  const moves = result.moves.filter((each) => each.from && each.cell && each.visits > 0).slice(0, 5);
  return moves.map((each) => {
    const [[r1, c1], [r2, c2]] = [each.from, each.cell];
    const line = { x1: x(r1, c1), y1: y(r1), x2: x(r2, c2), y2: y(r2) };
    const width = 2 + 6 * (each.visits / moves[0].visits);
    return s("line", { ...line, class: "arrow", "stroke-width": width });
  });
}

/** Return a line of moves as numbered pieces. */
export function numberedLine(names, view, geometry) {
  const style = styleOf(view.board, view.players);
  const filled = new Set();
  const parts = [];
  let player = view.to_move;
  names.forEach((name, i) => {
    const cell = cellNamed(name, view.board, filled);
    if (cell && !filled.has(`${cell}`)) {
      filled.add(`${cell}`);
      const [x, y] = [geometry.x(...cell), geometry.y(cell[0])];
      const shape = style === "letters" ? "stones" : style; // a number needs a ground
      parts.push(piece("xo"[player], shape, x, y));
      parts.push(s("text", { x, y: y + 1, class: `count player-${player}` }, `${i + 1}`));
    }
    player = 1 - player;
  });
  return s("g", { class: "ghost" }, parts);
}
