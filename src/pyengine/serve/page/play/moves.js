// The moves of the game, with variations as a tree.

import { emit, on } from "../bus.js";
import { h } from "../dom.js";
import { app, goTo, remember } from "../session.js";
import { plyOf, promote, removeNode } from "../tree.js";

export function showMoves(host) {
  on("view tree", () => {
    host.replaceChildren(...line(app.tree.root), ...commands());
    const current = host.querySelector("[aria-current]");
    if (current) host.scrollTop = current.offsetTop - host.offsetTop - host.clientHeight / 2;
  });
}

/** Return the moves after a node; other children than the first are lists in the list. */
function line(node, isFirst = true) {
  const parts = [];
  let ply = plyOf(node);
  for (let each = node; each.children.length; each = each.children[0]) {
    const [main, ...others] = each.children;
    ply += 1;
    parts.push(entry(main, ply, parts.length === 0 || others.length > 0 || ply % 2 === 1));
    for (const other of others) {
      parts.push(h("div", { class: "variation" }, entry(other, ply, true), ...line(other, false)));
    }
  }
  if (!parts.length && isFirst) parts.push(h("p", { class: "hint" }, "No moves yet."));
  return parts;
}

function entry(node, ply, hasNumber) {
  return h(
    "button",
    {
      class: "move",
      "aria-current": node === app.node ? "step" : null,
      "aria-label": `Move ${ply}: ${node.move}`,
      onclick: () => goTo(node),
    },
    hasNumber ? h("small", {}, `${ply}`) : null,
    node.move,
  );
}

function commands() {
  const node = app.node;
  if (!node.parent || node.parent.children.length < 2) return [];
  const change = (work) => () => {
    work();
    remember();
    emit("tree");
  };
  const remove = async () => {
    removeNode(node);
    await goTo(node.parent);
  };
  return [
    h(
      "p",
      { class: "bar" },
      h("button", { onclick: change(() => promote(node)) }, "Make main line"),
      h("button", { onclick: remove }, "Remove variation"),
    ),
  ];
}
