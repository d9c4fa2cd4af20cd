// The page "How it thinks": the tree, step by step, and algorithms side by side.

import { on } from "../bus.js";
import { choice, h } from "../dom.js";
import { app, goTo, playerName } from "../session.js";
import { endOf, nextOf, plyOf } from "../tree.js";
import { CompareView } from "./compare.js";
import { StepView } from "./step_view.js";
import { TreeView } from "./tree_view.js";

const ALGORITHMS = [["puct", "PUCT (AlphaZero)"], ["uct", "UCT"], ["gumbel", "Gumbel"]];

const VIEWS = [
  { name: "steps", title: "Step by step", make: StepView, simulations: [8, 16, 32, 64], usual: 32, algorithms: ALGORITHMS.slice(0, 2) },
  { name: "tree", title: "The tree", make: TreeView, simulations: [50, 200, 800, 3200, 20000], usual: 800, algorithms: ALGORITHMS },
  { name: "compare", title: "Side by side", make: CompareView, simulations: [50, 200, 400, 1600, 6400], usual: 400, algorithms: [] },
];

let current = null;
let shownNode = null;

/** Answer a key: ← and → through the simulations, space plays them. */
export const thinkKey = (event) => current?.shown.key?.(event);

export function showThinking(host) {
  const where = h("span", { class: "where" });
  const body = h("div", { class: "view" });
  const options = h("div", { class: "bar" });
  const buttons = VIEWS.map((view) => h("button", { onclick: () => open(view) }, view.title));
  for (const view of VIEWS) {
    const offered = view.simulations.filter((count) => count <= app.maxSimulations);
    view.simulations = offered.length ? offered : [app.maxSimulations];
    const usual = view.simulations.includes(view.usual) ? view.usual : view.simulations.at(-1);
    view.settings = { simulations: usual, algorithm: "puct" };
    view.shown = new view.make(view.settings);
  }
  host.append(
    h("p", { class: "lead" }, "A search plays out thousands of short walks through the game, called simulations. Each walk selects moves down the tree, evaluates the position where it ends, and carries the result back up."),
    h("div", { class: "bar think-bar" }, h("div", { class: "segments", role: "group", "aria-label": "Views" }, buttons), options, h("span", { class: "space" }), where, h("button", { "aria-label": "Previous position", onclick: () => app.node.parent && goTo(app.node.parent) }, "‹"), h("button", { "aria-label": "Next position", onclick: () => app.node.children.length && goTo(nextOf(app.node)) }, "›")),
    body,
  );

  function open(view) {
    current?.shown.stop();
    current = view;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", VIEWS[i] === view));
    options.replaceChildren(...controls(view));
    body.replaceChildren(view.shown.element);
    begin();
  }

  function begin() {
    if (!app.view || app.tab !== "think") return current?.shown.stop();
    if (!current) return open(VIEWS[0]);
    shownNode = app.node;
    const ply = plyOf(app.node);
    const mover = app.view.to_move < 0 ? "game over" : `${playerName(app.view.to_move)} to move`;
    where.textContent = `Move ${ply} of ${plyOf(endOf(app.node))}, ${mover}`;
    current.shown.start();
  }

  function controls(view) {
    const counts = view.simulations.map((count) => [String(count), `${count.toLocaleString("en")} simulations`]);
    const change = (name) => (value) => {
      view.settings[name] = name === "simulations" ? Number(value) : value;
      begin();
    };
    const parts = [choice("Simulations", counts, String(view.settings.simulations), change("simulations"))];
    if (view.algorithms.length) {
      parts.unshift(choice("Algorithm", view.algorithms, view.settings.algorithm, change("algorithm")));
    }
    return parts;
  }

  on("tab", begin);
  on("view", () => app.node !== shownNode && app.tab === "think" && begin());
}
