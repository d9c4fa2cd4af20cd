// The review of the game: every position searched, the largest losses first.

import { Channel } from "../api.js";
import { emit, on } from "../bus.js";
import { h } from "../dom.js";
import { percent } from "../format.js";
import { app, complain, goTo, network, playerName, positionOf } from "../session.js";
import { endOf, pathTo } from "../tree.js";

const SIMULATIONS = 200; // of each position
const WORST = 8;
const LEAST_LOSS = 0.02; // of the win rate

let nodes = [];
let number = 0;
let show = () => {};
let line = [];

const channel = new Channel("api/review", (message) => {
  if (message.id !== undefined && message.id !== number) return;
  if (message.type === "error") {
    channel.finish();
    show();
    complain(new Error(message.error));
  } else if (message.type === "progress") {
    show(progress(message));
  } else {
    channel.finish();
    keep(message);
  }
});

export function showReview(host) {
  show = (...parts) => host.replaceChildren(...parts);
  on("opened", () => {
    channel.stop();
    number += 1;
    show();
  });
}

/** Review the line through the current node. */
export function startReview() {
  const end = endOf(app.node);
  nodes = pathTo(end);
  number += 1;
  if (nodes.length < 2) return complain(new Error("There is no game to review: play or load one."));
  show(progress({ done: 0, of: nodes.length }));
  channel.send({
    type: "review",
    id: number,
    position: positionOf(end),
    network: network(),
    simulations: SIMULATIONS,
  });
}

const progress = ({ done, of }) =>
  h("progress", { max: of, value: done, "aria-label": "Progress of the review" });

function keep({ moves, positions = [] }) {
  positions.forEach((each, ply) => {
    if (each && nodes[ply]) nodes[ply].rating = { visits: SIMULATIONS, ...each };
  });
  line = nodes;
  const lossOf = (each) => each.loss ?? 0;
  const worst = moves.filter((each) => lossOf(each) >= LEAST_LOSS);
  worst.sort((a, b) => lossOf(b) - lossOf(a));
  show(h("h3", {}, "Largest losses"), worst.length ? list(worst.slice(0, WORST)) : nothing());
  emit("reviewed");
}

const nothing = () => h("p", { class: "hint" }, "No move lost 2% of the win rate or more.");

function list(moves) {
  const entries = moves.map((each) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          class: "loss",
          onclick: () => goTo(line[each.ply - 1]),
          onpointerenter: () => emit("point", { pv: each.pv, node: line[each.ply - 1] }),
          onpointerleave: () => emit("point", null),
        },
        h("b", {}, `${each.ply}. ${each.move}`),
        h("span", {}, `${playerName(each.player)} lost ${percent(each.loss)}`),
        h("span", { class: "hint" }, each.best && each.best !== each.move ? `better: ${each.best}` : ""),
      ),
    ),
  );
  return h("ol", { class: "losses" }, entries);
}
