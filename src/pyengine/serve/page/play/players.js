// Who plays, how strong the engine is, which network it uses, and the clocks.

import { on } from "../bus.js";
import { choice, h, row } from "../dom.js";
import { app, currentGame, set } from "../session.js";
import { clockTexts, nextTurn, stopEngine } from "./match.js";

const BUDGETS = [
  ["simulations:50", "50 simulations"],
  ["simulations:400", "400 simulations"],
  ["simulations:3200", "3,200 simulations"],
  ["simulations:20000", "20,000 simulations"],
  ["seconds:1", "1 second a move"],
  ["seconds:5", "5 seconds a move"],
  ["seconds:30", "30 seconds a move"],
];
const CLOCKS = [
  ["none", "No clock"],
  ["60+0", "1 minute"],
  ["180+2", "3 minutes + 2 seconds"],
  ["600+0", "10 minutes"],
  ["1800+30", "30 minutes + 30 seconds"],
];

export function showPlayers(host) {
  const build = () => host.replaceChildren(...rows());
  on("opened settings", build);
  on("view clock", () => showClocks(host));
}

function rows() {
  const game = currentGame();
  if (!game) return [];
  return [
    ...[0, 1].map((player) => playerRow(player, game)),
    row("Strength", strengths(game)),
    row("Network", networks(game)),
    row("Clock", choice("Clock", CLOCKS, app.settings.clock, (clock) => set({ clock }))),
  ];
}

function playerRow(player, game) {
  const name = game.players[player];
  const kinds = [["person", "Person"], ["engine", "Engine"]];
  const onChange = async (kind) => {
    const players = [...app.settings.players];
    players[player] = kind;
    set({ players });
    stopEngine();
    await nextTurn();
  };
  return h(
    "div",
    { class: "row player", "data-player": player },
    h("span", {}, h("i", { class: `mark player-${player}`, "aria-hidden": "true" }), name),
    h("span", { class: "clock", role: "timer", "aria-label": `Time of ${name}` }),
    choice(`${name} is played by`, kinds, app.settings.players[player], onChange),
  );
}

function strengths(game) {
  const levels = game.levels.map(({ number, name, elo }) => [
    `level:${number}`,
    `${number} ${name}${elo === null ? "" : `, Elo ${Math.round(elo)}`}`,
  ]);
  const options = [...levels, ...BUDGETS];
  const usual = levels.length ? levels[Math.floor(levels.length / 2)][0] : "simulations:400";
  const isOffered = options.some(([value]) => value === app.settings.strength);
  if (!isOffered) app.settings.strength = usual;
  return choice("Strength of the engine", options, app.settings.strength, (strength) =>
    set({ strength }),
  );
}

function networks(game) {
  const names = [...game.networks, "rollout", "uniform"];
  const words = { rollout: "none: random playouts", uniform: "none: uniform" };
  const options = names.map((name) => [name, words[name] ?? name]);
  if (!names.includes(app.settings.network)) app.settings.network = names[0];
  return choice("Network", options, app.settings.network, (network) => set({ network }));
}

function showClocks(host) {
  const texts = clockTexts();
  for (const each of host.querySelectorAll(".player")) {
    const player = Number(each.dataset.player);
    each.querySelector(".clock").textContent = texts[player];
    each.classList.toggle("to-move", app.view?.to_move === player && !app.node.end);
  }
}
