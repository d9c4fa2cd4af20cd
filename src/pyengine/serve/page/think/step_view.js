// One simulation at a time: selection term by term, expansion, evaluation, back-up.

import { post } from "../api.js";
import { h, s } from "../dom.js";
import { fixed, percent, proofName, signed } from "../format.js";
import { app, complain, network, position } from "../session.js";
import { numbered, treePicture } from "./picture.js";
import { SmallBoard } from "./small_board.js";
import { keysOn, treeAfter } from "./steps.js";

const MOST = 64; // simulations
const ROWS = 6; // moves of a selection that are listed
const PACE = 1600; // milliseconds a simulation when it plays by itself

const RULES = {
  puct: [
    "PUCT takes the move with the largest ", h("b", {}, "Q + U"), ". Q is what the move has brought so far; U = c · P · √N(parent) ÷ (1 + N) ",
    "is large for moves that the network likes (P) and that were tried seldom (N). U falls with every visit, so good results take over. A move without visits takes the parent's mean minus a reduction as its Q. c grows slowly with N(parent).",
  ],
  uct: [
    "UCT takes the move with the largest ", h("b", {}, "Q + U"), ". Q is the share of wins so far; U = c · √(2 · ln n ÷ N), where n counts the visits of all moves here, is large ",
    "for moves that were tried seldom. A move that was never tried comes first.",
  ],
};

export class StepView {
  constructor(settings) {
    this.settings = settings;
    this.steps = [];
    this.algorithm = null; // of the steps
    this.at = 1;
    this.depth = 0; // of the selection that is open
    this.number = 0;
    this.timer = null;
    this.board = new SmallBoard();
    this.picture = h("div", { class: "picture", tabindex: 0, role: "region", "aria-label": "Tree after this simulation" });
    this.cards = h("div", { class: "cards" });
    this.slider = h("input", { type: "range", min: 1, max: 1, value: 1, "aria-label": "Simulation", oninput: () => this.go(Number(this.slider.value)) });
    this.title = h("b", { class: "step-title", role: "status" });
    this.player = h("button", { onclick: () => this.toggle(), "aria-pressed": "false" }, "Play");
    const button = (text, label, by) => h("button", { "aria-label": label, onclick: () => this.go(this.at + by) }, text);
    this.element = h(
      "div",
      {},
      h(
        "div",
        { class: "bar steps-bar" },
        button("‹", "Previous simulation", -1),
        button("›", "Next simulation", 1),
        this.player,
        this.slider,
        this.title,
      ),
      h("div", { class: "split" }, this.picture, this.cards),
    );
  }

  async start() {
    this.stop();
    const number = ++this.number;
    const { algorithm, simulations } = this.settings;
    if (app.view.terminal) {
      this.picture.replaceChildren(h("p", { class: "hint" }, "The game is over: go back to search."));
      return this.cards.replaceChildren();
    }
    try {
      const answer = await post("api/steps", {
        position: position(),
        network: network(),
        algorithm,
        simulations: Math.min(simulations, MOST),
      });
      if (number !== this.number) return;
      Object.assign(this, { steps: answer.steps, algorithm });
      this.slider.max = this.steps.length;
      this.go(Math.min(this.at, this.steps.length));
    } catch (error) {
      complain(error);
    }
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.player.textContent = "Play";
    this.player.setAttribute("aria-pressed", "false");
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at >= this.steps.length) this.go(1);
    this.player.textContent = "Pause";
    this.player.setAttribute("aria-pressed", "true");
    this.timer = setInterval(() => {
      if (this.at >= this.steps.length) this.stop();
      else this.go(this.at + 1);
    }, PACE);
  }

  key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) this.go(this.at + by);
    else if (event.key === " " && event.target === document.body) this.toggle();
    else return;
    event.preventDefault();
  }

  go(at) {
    if (!this.steps.length) return;
    this.at = Math.min(Math.max(at, 1), this.steps.length);
    this.slider.value = this.at;
    this.title.textContent = `Simulation ${this.at} of ${this.steps.length}`;
    const step = this.steps[this.at - 1];
    this.draw(step);
    this.cards.replaceChildren(this.selection(step), this.leaf(step), backUp(step, this.isUct()));
    this.board.show(step.leaf.path);
  }

  isUct() {
    return this.algorithm === "uct";
  }

  draw(step) {
    const root = numbered(treeAfter(this.steps, this.at, this.isUct()));
    const path = keysOn(step.leaf.path);
    const picture = treePicture(root, {
      path,
      selected: path.at(-1),
      isOpen: () => true,
      most: () => MOST,
      onPick: (node) => this.goTo(node.key),
    });
    this.picture.replaceChildren(picture);
    const leaf = picture.querySelector(".selected .box");
    if (leaf) {
      const middle = Number(leaf.getAttribute("x")) + 37 - this.picture.clientWidth / 2;
      this.picture.scrollLeft = middle;
    }
  }

  /** Go to the simulation that created a node. */
  goTo(key) {
    const at = this.steps.findIndex((step) => keysOn(step.leaf.path).at(-1) === key);
    if (at >= 0) this.go(at + 1);
  }

  selection(step) {
    const rule = RULES[this.isUct() ? "uct" : "puct"];
    const open = Math.min(this.depth, step.path.length - 1);
    const chosen = step.path.map((each, i) => this.choice(each, i, i === open));
    const nothing = h("p", {}, "The tree is empty: the root itself is the leaf.");
    return card("1", "Select", rule, ...(chosen.length ? chosen : [nothing]));
  }

  /** One selection; only one of them is open. */
  choice(each, depth, isOpen) {
    const where = each.path.length ? `after ${each.path.slice(-4).join(" ")}` : "at the root";
    const taken = each.moves.find(({ move }) => move === each.chosen);
    const sum = taken?.sum === null || !taken ? "" : `, ${fixed(taken.sum)}`;
    const summary = h("summary", {}, h("b", {}, each.chosen), ` ${where}${sum}`);
    const follow = (event) => event.target.open && (this.depth = depth);
    return h("details", { name: "selection", open: isOpen, ontoggle: follow }, summary, selected(each));
  }

  leaf({ leaf }) {
    const words = leaf.terminal
      ? ["The game is over here, so nothing is asked: the result counts."]
      : leaf.priors.length
        ? ["The walk has left the tree. The evaluator says how good the position is, and how promising each move: its priors. The moves become new branches."]
        : ["The value of this position is known already."];
    const name = leaf.path.length ? leaf.path.join(" ") : "the root";
    const value = h("p", { class: "value" }, "Value for the player who moved: ", h("b", {}, signed(leaf.value)));
    const proof = leaf.proven ? h("p", { class: "proven" }, `${proofName(leaf.value)} proven`) : null;
    return card("2", "Expand and evaluate", words, h("h3", {}, "Leaf: ", name), value, proof, h("div", { class: "leaf" }, this.board.element, priors(leaf.priors)));
  }
}

function card(number, title, words, ...content) {
  return h(
    "section",
    { class: "card step" },
    h("h2", {}, h("span", { class: "badge" }, number), title),
    h("p", { class: "explanation" }, ...words.map((word) => (word.cloneNode ? word.cloneNode(true) : word))),
    ...content,
  );
}

/** One selection: each move with Q, U and their sum as a bar; the largest wins. */
function selected({ path, moves, chosen }) {
  const finite = moves.filter((each) => each.sum !== null && each.Q !== null);
  const high = Math.max(0.01, ...finite.map((each) => each.sum));
  const least = Math.min(0, ...finite.map((each) => each.Q));
  const low = least < 0 ? least - 0.1 * (high - least) : 0; // the bars begin here
  const shown = moves.slice(0, ROWS);
  if (chosen && !shown.some((each) => each.move === chosen)) {
    shown.push(...moves.filter((each) => each.move === chosen));
  }
  const head = ["Move", "N", "P", "Q", "U", "Q + U"].map((text) => h("th", { scope: "col" }, text));
  head.push(h("th", { class: "bars", scope: "col" }, h("i", { class: "key q" }), "Q ", h("i", { class: "key u" }), "U"));
  const where = path.length ? `Moves after ${path.join(" ")}` : "Moves at the root";
  return h(
    "table",
    { class: "terms" },
    h("caption", { class: "unseen" }, where),
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, shown.map((each) => term(each, each.move === chosen, low, high))),
  );
}

function term(each, isChosen, low, high) {
  const cells = [String(each.N), each.P === null ? "–" : percent(each.P), fixed(each.Q), each.U === null ? "∞" : fixed(each.U), each.sum === null ? sumOf(each) : fixed(each.sum)];
  return h(
    "tr",
    { class: isChosen ? "chosen" : null },
    h("th", { scope: "row" }, each.move, isChosen ? h("span", { class: "tick-mark", "aria-label": "taken" }, " ✓") : ""),
    cells.map((text) => h("td", {}, text)),
    h("td", { class: "bars" }, bars(each, low, high)),
  );
}

const sumOf = (each) => (each.proven !== null && each.proven !== undefined && each.proven < 0 ? "−∞" : "∞");

function bars({ Q, U, sum }, low, high) {
  const width = 120;
  const x = (value) => (width * (value - low)) / (high - low);
  const svg = s("svg", { viewBox: `0 0 ${width} 14`, "aria-hidden": "true" });
  if (sum === null || Q === null || U === null) {
    if (U === null) svg.append(s("rect", { x: 0, y: 3, width, height: 8, class: "endless" }));
    return svg;
  }
  const part = (a, b, name) => s("rect", { x: x(a), y: 3, width: x(b) - x(a), height: 8, class: name });
  svg.append(part(low, Q, "q"), part(Q, sum, "u"));
  svg.append(s("rect", { x: x(0) - 0.5, y: 0, width: 1, height: 14, class: "zero" }));
  return svg;
}

function priors(list) {
  if (!list.length) return null;
  const largest = list[0].P || 1;
  const items = list.slice(0, 5).map(({ move, P }) => {
    const bar = h("i", { class: "meter", "aria-hidden": "true" }, h("i"));
    bar.firstChild.style.width = percent(P / largest);
    return h("li", {}, h("b", {}, move), bar, h("span", {}, percent(P)));
  });
  return h("ol", { class: "priors", "aria-label": "Largest priors" }, items);
}

const BACK_UP = {
  puct: "The value goes back up the path. Each position counts one more visit (N) and adds the value (W), with the sign changing from player to player; Q = W ÷ N follows.",
  uct: "The result goes back up the path. Each position counts one more visit (N) and adds the win (W): (1 + value) ÷ 2 for the player who moved there, the rest of 1 for the other; Q = W ÷ N is the share of wins.",
};

function backUp({ backup }, isUct) {
  const words = [BACK_UP[isUct ? "uct" : "puct"]];
  const q = (i) => ({ N, W }) => (N[i] ? fixed(W[i] / N[i]) : "–");
  const change = (before, after) => h("td", {}, h("span", { class: "before" }, before, " → "), h("b", {}, after));
  const rows = [...backup].reverse().map((each) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, each.move ?? "root"),
      change(String(each.N[0]), String(each.N[1])),
      change(fixed(each.W[0]), fixed(each.W[1])),
      change(q(0)(each), q(1)(each)),
    ),
  );
  const head = ["Position", "N", "W", "Q"].map((text) => h("th", { scope: "col" }, text));
  const table = h(
    "table",
    { class: "terms" },
    h("caption", { class: "unseen" }, "Before and after, from the leaf up"),
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, rows),
  );
  return card("3", "Back up", words, table);
}
