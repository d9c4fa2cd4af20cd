// A game with variations. A node is a position: its move, and how the game ended there, if it did.

export function newTree(game, start) {
  return { game, start, root: newNode(null, null) };
}

function newNode(move, parent) {
  return { move, parent, children: [], view: null, rating: null, end: null, clock: null };
}

/** Return the child of a node by a move, new or not. */
export function childOf(node, move) {
  const known = node.children.find((child) => child.move === move);
  if (known) return known;
  const child = newNode(move, node);
  node.children.push(child);
  return child;
}

export function removeNode(node) {
  const siblings = node.parent.children;
  siblings.splice(siblings.indexOf(node), 1);
}

/** Make a variation the main line. */
export function promote(node) {
  for (let each = node; each.parent; each = each.parent) {
    const siblings = each.parent.children;
    siblings.splice(siblings.indexOf(each), 1);
    siblings.unshift(each);
  }
}

/** Return the nodes from the root to a node, both included. */
export function pathTo(node) {
  const path = [];
  for (let each = node; each; each = each.parent) path.unshift(each);
  return path;
}

export const movesTo = (node) => pathTo(node).slice(1).map((each) => each.move);

export const plyOf = (node) => pathTo(node).length - 1;

/** Return the last node of the line through a node; `last` is where the reader came from. */
export function endOf(node) {
  let end = node;
  while (end.children.length) end = nextOf(end);
  return end;
}

/** Return the child that → leads to: the one visited last, else the first. */
export function nextOf(node) {
  return node.children.includes(node.recent) ? node.recent : node.children[0];
}

/** Return the tree as values for storage: a list, so that its depth does not matter. */
export function packed(tree, current) {
  const nodes = [];
  const numbers = new Map();
  const waiting = [tree.root];
  while (waiting.length) {
    const node = waiting.shift();
    numbers.set(node, nodes.length);
    const { move, rating, end, clock } = node;
    nodes.push([node.parent ? numbers.get(node.parent) : -1, move, rating, end, clock]);
    waiting.push(...node.children);
  }
  return { game: tree.game, start: tree.start, nodes, current: numbers.get(current) };
}

/** Return the tree and the current node of packed values. */
export function unpacked(values) {
  const tree = newTree(values.game, values.start);
  const nodes = [];
  for (const [parent, move, rating, end, clock] of values.nodes) {
    const node = parent < 0 ? tree.root : childOf(nodes[parent], move);
    Object.assign(node, { rating, end, clock });
    nodes.push(node);
  }
  return { tree, node: nodes[values.current] ?? tree.root };
}
