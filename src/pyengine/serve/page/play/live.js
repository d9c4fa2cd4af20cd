// The running analysis of the current position: its latest figures.

import { Channel } from "../api.js";
import { emit, on } from "../bus.js";
import { allowed, app, complain, isOver, network, position, remember } from "../session.js";

export const live = { isOn: false, result: null };

const EVERY = 1 / 30; // seconds between two results

/** The lengths that a reader can choose, in visits. */
const BUDGETS = [
  ["1000", "1,000 visits"],
  ["20000", "20,000 visits"],
  ["200000", "200,000 visits"],
  ["0", "until stopped"],
];

export const budgets = () => allowed(BUDGETS);

/** Return the simulations of the analysis; null until stopped. */
function budget() {
  const values = budgets().map(([value]) => value);
  const chosen = app.settings.budget;
  return Number(values.includes(chosen) ? chosen : values[0]) || null;
}

let number = 0;
let waiting = null; // the result for the next frame

const channel = new Channel("api/live", receive);

export function switchAnalysis(isOn = !live.isOn) {
  live.isOn = isOn;
  update();
}

function update() {
  live.result = null;
  number += 1;
  if (!live.isOn || app.tab !== "play" || isOver()) {
    channel.stop();
  } else {
    channel.send({
      type: "analyze",
      id: number,
      position: position(),
      network: network(),
      simulations: budget(),
      every: EVERY,
    });
  }
  emit("live");
}

function receive(message) {
  if (message.id !== number) return;
  if (message.type === "error") {
    channel.finish();
    live.isOn = false;
    emit("live");
    complain(new Error(message.error));
    return;
  }
  if (message.done) channel.finish();
  if (waiting === null) requestAnimationFrame(() => showLatest());
  waiting = message;
}

function showLatest() {
  const result = waiting;
  waiting = null;
  if (result.id !== number) return;
  const origins = new Map(app.view.legal.map((each) => [each.action, each.from]));
  for (const each of result.moves) each.from = origins.get(each.action) ?? null;
  live.result = result;
  rate(result);
  emit("live");
}

/** Keep the win rate for the graph, unless a longer search has been there. */
function rate({ visits, winrate_black, score, proven, done }) {
  const old = app.node.rating;
  if (old && old.visits > visits) return;
  const black = proven === null ? winrate_black : (1 + (app.view.to_move ? -proven : proven)) / 2;
  app.node.rating = { visits, winrate_black: black, score };
  if (done) remember();
}

let last = null;
let lastKey = "";
on("view settings tab", () => {
  const key = [app.tab, app.tree && network(), app.settings.budget, app.node?.end].join();
  if (!app.view || (app.node === last && key === lastKey)) return;
  last = app.node;
  lastKey = key;
  update();
});
