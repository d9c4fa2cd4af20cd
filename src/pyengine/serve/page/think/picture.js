// A search tree as a picture: cards for positions, lines as thick as their share of the visits.
// A node is {move, N, Q, P, proven, children, more, key, to_move}; `key` names it by its path. `lean`
// is Q from −1 to 1, if Q has another range.

import { s } from "../dom.js";
import { counted, proofName, signed } from "../format.js";

const CARD = { width: 74, height: 50 };
const GAP = { x: 12, y: 44 };
const EDGE = 8;

/** Return the key of the node after some moves, whose names may contain any character. */
export const keyOf = (moves) => JSON.stringify(moves);

export const ROOT = keyOf([]);

/** Return the picture of a tree.
 *
 * Args: `isOpen(node)` says whether its children are shown; `most(node)` how many; `onPick(node)`
 * follows a click; `selected` and `path` are keys.
 */
export function treePicture(root, options) {
  const cards = [];
  const width = place(root, 0, 0, null, cards, options);
  const depth = Math.max(...cards.map((card) => card.depth));
  const size = {
    width: width + 2 * EDGE,
    height: (depth + 1) * CARD.height + depth * GAP.y + 2 * EDGE,
  };
  const svg = s("svg", {
    viewBox: `0 0 ${size.width} ${size.height}`,
    width: size.width,
    height: size.height,
    class: "tree",
    role: "group",
    "aria-label": "Search tree",
  });
  svg.append(...cards.filter((card) => card.parent).map((card) => edge(card, options)));
  svg.append(...cards.map((card) => drawn(card, options)));
  return svg;
}

/** Give each card its place; return the width of the part below it. */
function place(node, left, depth, parent, cards, options) {
  const card = { node, depth, parent, x: 0, y: EDGE + depth * (CARD.height + GAP.y) };
  cards.push(card);
  const shown = options.isOpen(node) ? node.children.slice(0, options.most(node)) : [];
  const hidden = node.children.length - shown.length + (node.more ?? 0);
  card.hidden = hidden;
  let right = left;
  const children = shown.map((child) => {
    const index = cards.length;
    right += place(child, right, depth + 1, card, cards, options) + GAP.x;
    return cards[index];
  });
  const width = Math.max(CARD.width, right - left - GAP.x);
  const middle = children.length
    ? (children[0].x + children.at(-1).x) / 2
    : EDGE + left + CARD.width / 2;
  card.x = middle;
  return width;
}

function edge(card, { path = [] }) {
  const { parent, node } = card;
  const share = node.N / Math.max(parent.node.N, 1);
  const [y1, y2] = [parent.y + CARD.height, card.y];
  const bend = (y1 + y2) / 2;
  const d = `M${parent.x} ${y1}C${parent.x} ${bend} ${card.x} ${bend} ${card.x} ${y2}`;
  const name = path.includes(node.key) ? "edge on-path" : "edge";
  return s("path", { d, class: name, "stroke-width": (1 + 7 * share).toFixed(1) });
}

function drawn(card, { selected, path = [], onPick, isOpen }) {
  const { node, x, y, hidden } = card;
  const left = x - CARD.width / 2;
  const names = ["node"];
  if (node.key === selected) names.push("selected");
  if (path.includes(node.key)) names.push("on-path");
  if (node.isNew) names.push("new");
  const name = node.move ?? "root";
  const size = { x: left, y, width: CARD.width, height: CARD.height };
  const group = s(
    "g",
    {
      class: names.join(" "),
      tabindex: 0,
      role: "button",
      "data-key": node.key,
      "aria-label": described(node, name),
      "aria-expanded": node.children.length ? isOpen(node) : null,
      onclick: () => onPick(node),
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onPick(node);
      },
    },
    s("rect", { ...size, rx: 9, class: "box" }),
    s("text", { x, y: y + 17, class: "name" }, name),
    s("text", { x, y: y + 33, class: "figures" }, figuresOf(node)),
    rateBar(node, left + 9, y + 41),
    hidden > 0 ? more(hidden, left + CARD.width - 6, y + 13) : null,
  );
  return group;
}

const described = (node, name) =>
  `${name}: ${counted(node.N)} visits, Q ${signed(node.Q)}` +
  (node.proven === null || node.proven === undefined ? "" : `, ${proofName(node.proven)} proven`);

function figuresOf(node) {
  if (node.proven !== null && node.proven !== undefined) {
    return `${short(node.N)} · ${proofName(node.proven)}`;
  }
  return `${short(node.N)} · ${node.Q === null ? "–" : signed(node.Q)}`;
}

const short = (count) => (count < 10000 ? counted(count) : `${(count / 1000).toPrecision(3)}k`);

/** A bar from the middle: to the right if Q is good for the player who moves there. */
function rateBar(node, x, y) {
  const width = CARD.width - 18;
  const half = width / 2;
  const q = node.lean ?? node.Q ?? 0;
  const length = half * Math.min(Math.abs(q), 1);
  return s(
    "g",
    {},
    s("rect", { x, y, width, height: 3, class: "track" }),
    s("rect", { x: q < 0 ? x + half - length : x + half, y, width: length, height: 3, class: q < 0 ? "bad" : "good" }),
    s("rect", { x: x + half - 0.5, y: y - 1.5, width: 1, height: 6, class: "zero" }),
  );
}

const more = (hidden, x, y) => s("text", { x, y, class: "more" }, `+${counted(hidden)}`);

/** Give each node its path as a key, its depth and its parent. */
export function numbered(root) {
  const waiting = [[root, [], 0, null]];
  while (waiting.length) {
    const [node, path, depth, parent] = waiting.pop();
    Object.assign(node, { key: keyOf(path), depth, parent });
    for (const child of node.children) waiting.push([child, [...path, child.move], depth + 1, node]);
  }
  return root;
}

/** Return the moves from the root to a node. */
export function movesOf(node) {
  const moves = [];
  for (let each = node; each.parent; each = each.parent) moves.unshift(each.move);
  return moves;
}
