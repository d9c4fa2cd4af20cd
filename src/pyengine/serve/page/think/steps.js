// The tree after some simulations, from the steps that the server describes. Plain values.

import { ROOT, keyOf } from "./picture.js";

/** Return the tree after the first `count` steps; nodes that the last step created are `isNew`.
 *
 * With `isUct` Q is the share of wins, from 0 to 1; `lean` is from −1 to 1 in any case.
 */
export function treeAfter(steps, count, isUct) {
  const root = emptyNode(null, null);
  steps.slice(0, count).forEach((step, i) => {
    const isLast = i === count - 1;
    backUp(root, step, isLast, isUct);
    addPriors(nodeAt(root, step.leaf.path), step.leaf.priors);
    if (step.leaf.proven !== null && step.leaf.terminal) {
      nodeAt(root, step.leaf.path).proven = step.leaf.value;
    }
  });
  sort(root);
  return root;
}

function emptyNode(move, prior) {
  return { move, N: 0, W: 0, Q: null, P: prior, proven: null, children: [], more: 0, priors: new Map() };
}

function backUp(root, step, isLast, isUct) {
  let node = root;
  for (const { move, N, W } of step.backup) {
    if (move !== null) node = childOf(node, move, isLast);
    [node.N, node.W] = [N[1], W[1]];
    node.Q = node.N ? node.W / node.N : null;
    node.lean = isUct && node.N ? 2 * node.Q - 1 : node.Q;
  }
}

function childOf(node, move, isLast) {
  let child = node.children.find((each) => each.move === move);
  if (child) return child;
  child = emptyNode(move, node.priors.get(move) ?? null);
  child.isNew = isLast;
  node.children.push(child);
  return child;
}

function addPriors(node, priors) {
  for (const { move, P } of priors) node.priors.set(move, P);
}

function nodeAt(root, path) {
  return path.reduce((node, move) => node.children.find((each) => each.move === move) ?? node, root);
}

function sort(node) {
  node.children.sort((a, b) => b.N - a.N);
  node.children.forEach(sort);
}

/** Return the keys of the nodes on a path. */
export const keysOn = (path) => [ROOT, ...path.map((_, i) => keyOf(path.slice(0, i + 1)))];
