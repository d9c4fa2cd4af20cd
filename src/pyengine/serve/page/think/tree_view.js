// The tree of a search, which grows while one watches; its nodes open.

import { Channel } from "../api.js";
import { h } from "../dom.js";
import { counted, fixed, percent, proofName } from "../format.js";
import { app, complain, network, position } from "../session.js";
import { ROOT, movesOf, numbered, treePicture } from "./picture.js";
import { SmallBoard } from "./small_board.js";

const NODES = 1000; // that the server sends
const FEW = 3; // children of a node that are shown first
const MANY = 40;

const EXPLANATION = [
  "Every card is a position, named by the move that leads to it. ",
  h("b", {}, "N"), " counts the simulations that went through it, and ",
  h("b", {}, "Q"), " is their average result for the player who made the move: +1 wins, −1 loses. ",
  "The search spends its simulations where results are good, so the tree is deep in a few places and ",
  "shallow elsewhere. Click a card to open it.",
];

export class TreeView {
  constructor(settings) {
    this.settings = settings;
    this.open = new Set([ROOT]);
    this.many = new Set();
    this.selected = ROOT;
    this.root = null;
    this.number = 0;
    this.channel = new Channel("api/live", (message) => this.receive(message));
    this.picture = h("div", { class: "picture", tabindex: 0, role: "region", "aria-label": "Picture of the tree" });
    this.details = h("div", { class: "card details" });
    this.board = new SmallBoard();
    this.element = h(
      "div",
      {},
      h("p", { class: "explanation" }, ...EXPLANATION),
      h("div", { class: "split" }, this.picture, this.details),
    );
  }

  /** Search the current position. */
  start() {
    this.number += 1;
    this.open = new Set([ROOT]);
    this.many.clear();
    this.selected = ROOT;
    this.isUntouched = true;
    if (app.view.terminal) return this.refuse();
    this.channel.send({
      type: "analyze",
      id: this.number,
      position: position(),
      network: network(),
      algorithm: this.settings.algorithm,
      simulations: this.settings.simulations,
      every: 0.1,
      tree: { nodes: NODES },
    });
  }

  refuse() {
    this.stop();
    this.details.replaceChildren();
    this.picture.replaceChildren(h("p", { class: "hint" }, "The game is over: go back to search."));
  }

  stop() {
    this.channel.stop();
  }

  receive(message) {
    if (message.id !== this.number) return;
    if (message.type === "error") {
      this.channel.finish();
      return complain(new Error(message.error));
    }
    if (message.done) this.channel.finish();
    if (message.tree) this.show(numbered(message.tree));
  }

  show(root) {
    this.root = root;
    if (this.isUntouched) this.openBest();
    this.draw();
  }

  /** Open the most visited line, as far as it matters. */
  openBest() {
    this.open = new Set([ROOT]);
    let node = this.root;
    while (node.children.length && node.depth < 4) {
      this.open.add(node.key);
      node = node.children[0];
    }
  }

  draw() {
    const { scrollLeft, scrollTop } = this.picture;
    const isFocused = this.picture.contains(document.activeElement);
    this.picture.replaceChildren(
      treePicture(this.root, {
        selected: this.selected,
        path: this.bestPath(),
        isOpen: (node) => this.open.has(node.key),
        most: (node) => (this.many.has(node.key) ? MANY : FEW),
        onPick: (node) => this.pick(node),
      }),
    );
    Object.assign(this.picture, { scrollLeft, scrollTop });
    if (this.isUntouched) this.picture.scrollLeft = this.middleOfRoot();
    if (isFocused) this.picture.querySelector(".selected")?.focus({ preventScroll: true });
    this.describe(this.find(this.selected));
  }

  middleOfRoot() {
    const box = this.picture.querySelector(".box");
    return Number(box.getAttribute("x")) - this.picture.clientWidth / 2;
  }

  /** Return the keys of the most visited line. */
  bestPath() {
    const keys = [ROOT];
    for (let node = this.root; node.children.length; node = node.children[0]) {
      keys.push(node.children[0].key);
    }
    return keys;
  }

  find(key) {
    let node = this.root;
    for (const move of JSON.parse(key)) {
      node = node?.children.find((child) => child.move === move);
    }
    return node ?? this.root;
  }

  /** Select a node and open it; a click on the selected one shows more children, then closes it. */
  pick(node) {
    this.isUntouched = false;
    const { key } = node;
    if (key !== this.selected || !this.open.has(key)) this.open.add(key);
    else if (node.children.length > FEW && !this.many.has(key)) this.many.add(key);
    else {
      this.open.delete(key);
      this.many.delete(key);
    }
    this.selected = key;
    this.draw();
  }

  describe(node) {
    const moves = movesOf(node);
    const isProven = node.proven !== null && node.proven !== undefined;
    const facts = [
      ["N", "visits", counted(node.N)],
      ["W", "sum of the results", fixed(node.W)],
      ["Q", "average result, W ÷ N", fixed(node.Q, 3)],
      ["P", "prior of the move", node.parent ? percent(node.P) : "–"],
    ];
    if (isProven) facts.push(["∎", "proven", proofName(node.proven)]);
    this.details.replaceChildren(
      h("h3", {}, moves.length ? moves.join(" ") : "The root: the position on the board"),
      h("dl", { class: "facts" }, facts.map(fact)),
      this.board.element,
      node.children.length ? this.table(node) : h("p", { class: "hint" }, "No simulation went on from here."),
    );
    const key = `${JSON.stringify(position())} ${node.key}`;
    if (key !== this.shownKey) this.board.show(moves);
    this.shownKey = key;
  }

  table(node) {
    const rows = node.children.slice(0, 8).map((child) =>
      h(
        "tr",
        {},
        h("td", {}, h("button", { class: "move", onclick: () => this.pick(child) }, child.move)),
        [counted(child.N), fixed(child.Q, 3), percent(child.P)].map((text) => h("td", {}, text)),
      ),
    );
    const head = ["Move", "N", "Q", "P"].map((text) => h("th", { scope: "col" }, text));
    return h(
      "table",
      { class: "figures" },
      h("caption", { class: "unseen" }, "Moves from here"),
      h("thead", {}, h("tr", {}, head)),
      h("tbody", {}, rows),
    );
  }
}

const fact = ([name, words, value]) =>
  h("div", {}, h("dt", {}, h("b", {}, name), ` ${words}`), h("dd", {}, value));
