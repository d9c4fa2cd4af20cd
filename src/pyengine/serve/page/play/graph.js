// The win rate and the score over the game.

import { on } from "../bus.js";
import { chart } from "../charts.js";
import { h } from "../dom.js";
import { percent } from "../format.js";
import { app, goTo, playerName } from "../session.js";
import { endOf, pathTo } from "../tree.js";

export function showGraph(host) {
  on("view live reviewed tree", () => host.replaceChildren(...drawing()));
}

function drawing() {
  const nodes = pathTo(endOf(app.node));
  const rated = nodes.flatMap((node, ply) => (node.rating ? [[ply, node.rating]] : []));
  if (!rated.length) return [h("p", { class: "hint" }, "Analyse or review to see the win rate.")];
  const rates = rated.map(([ply, rating]) => [ply, rating.winrate_black]);
  const scores = rated.filter(([, { score }]) => score !== null && score !== undefined);
  const first = playerName(0);
  const options = {
    x: [0, nodes.length - 1],
    mark: nodes.indexOf(app.node),
    onPick: (ply) => goTo(nodes[Math.min(ply, nodes.length - 1)]),
  };
  const latest = percent(rates.at(-1)[1]);
  const label = `Win rate of ${first} by move, ${rates.length} positions, last ${latest}`;
  const win = chart([{ points: rates, kind: "first" }], { ...options, label, y: [0, 1], half: 0.5, area: true });
  if (!scores.length) return [win];
  const leads = scores.map(([ply, { score }]) => [ply, score]);
  const most = Math.ceil(Math.max(1, ...leads.map(([, lead]) => Math.abs(lead))));
  const lead = { label: `Lead of ${first} by move`, y: [-most, most], half: 0 };
  return [
    win,
    h("p", { class: "hint" }, `Lead of ${first} in points`),
    chart([{ points: leads, kind: "second" }], { ...options, ...lead }),
  ];
}
