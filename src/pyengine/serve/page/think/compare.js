// The same position searched by four algorithms, side by side.

import { post } from "../api.js";
import { h } from "../dom.js";
import { counted, percent, proofName, signed } from "../format.js";
import { heatOf } from "../board/heat.js";
import { app, complain, network, position } from "../session.js";
import { SmallBoard } from "./small_board.js";

const WORDS = {
  uct: ["UCT", "Upper confidence bounds on trees. Every move is tried, then those that win most often. Uses no priors."],
  puct: ["PUCT", "AlphaZero's rule. The network's priors say where to look first; results decide in the end."],
  gumbel: ["Gumbel", "Draws a few promising moves, and halves their number again and again. Good with few simulations."],
  alphabeta: ["Alpha-beta", "No network, no averages: it proves the value by looking at every line that matters, if it gets to the end."],
};

export class CompareView {
  constructor(settings) {
    this.settings = settings;
    this.number = 0;
    this.list = h("div", { class: "columns" });
    this.element = h(
      "div",
      {},
      h("p", { class: "explanation" }, "One position, one network: what each algorithm looks at, and what it would play. UCT, PUCT and Gumbel make the same number of simulations; the circles show how they divided them among the moves. Alpha-beta has no simulations: it counts positions."),
      this.list,
    );
  }

  async start() {
    const number = ++this.number;
    if (app.view.terminal) {
      return this.list.replaceChildren(h("p", { class: "hint" }, "The game is over: go back to search."));
    }
    this.list.replaceChildren(h("progress", { "aria-label": "Searching" }));
    try {
      const answer = await post("api/compare", {
        position: position(),
        network: network(),
        simulations: this.settings.simulations,
      });
      if (number !== this.number) return;
      this.list.replaceChildren(...answer.rows.map((row) => this.column(row, answer.moves)));
    } catch (error) {
      this.list.replaceChildren();
      complain(error);
    }
  }

  stop() {}

  column(row, moves) {
    const [title, words] = WORDS[row.algorithm] ?? [row.algorithm, ""];
    const board = new SmallBoard();
    const result = figures(row, moves);
    board.show([]).then(() => {
      if (!board.view?.board) return;
      const { under, over } = heatOf("visits", result, board.board.geometry);
      board.board.draw(under, over);
    });
    const isProven = row.proven !== null && row.proven !== undefined;
    const value = isProven ? `${proofName(row.proven)} proven` : row.value === null ? "not known" : signed(row.value);
    const facts = [
      ["Move", row.move ?? "–"],
      ["Value", value],
      ["Positions", counted(row.nodes)],
      ["Time", `${(1000 * row.seconds).toFixed(0)} ms`],
    ];
    return h(
      "section",
      { class: "card column", "data-algorithm": row.algorithm },
      h("h3", {}, title),
      h("p", { class: "explanation" }, words),
      board.element,
      h("dl", { class: "facts" }, facts.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text)))),
      h("p", { class: "hint" }, row.visits ? shares(row, moves) : row.note),
    );
  }
}

/** Return a row as the result of an analysis, for the heat map. */
function figures({ visits, q, move, proven }, names) {
  const legal = new Map(app.view.legal.map((each) => [each.move, each]));
  const moves = names.map((name, i) => ({
    move: name,
    cell: legal.get(name)?.cell ?? null,
    from: legal.get(name)?.from ?? null,
    visits: visits ? visits[i] : name === move ? 1 : 0,
    q: visits ? q?.[i] ?? 0 : proven,
    prior: 0,
    proven: !visits && name === move ? proven : null,
  }));
  moves.sort((a, b) => (b.move === move) - (a.move === move) || b.visits - a.visits);
  return { moves: visits ? moves : moves.slice(0, 1), ownership: null };
}

function shares({ visits }, names) {
  const sum = visits.reduce((a, b) => a + b, 0) || 1;
  const order = names.map((name, i) => [name, visits[i]]).sort((a, b) => b[1] - a[1]);
  return order.slice(0, 4).filter(([, n]) => n > 0).map(([name, n]) => `${name} ${percent(n / sum)}`).join(" · ");
}
