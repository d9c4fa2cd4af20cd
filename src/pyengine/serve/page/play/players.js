// Who plays, how strong the engine is, which network it uses, and the clocks.

import { on } from "../bus.js";
import { choice, h, row } from "../dom.js";
import { app, currentGame, network, networkNames, set, strength, strengths } from "../session.js";
import { clockTexts, nextTurn, stopEngine } from "./match.js";

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
    row("Strength", strengthChoice()),
    row("Network", networkChoice()),
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

/** Keep a choice for the current game. */
const setForGame = (name) => (value) =>
  set({ [name]: { ...app.settings[name], [app.tree.game]: value } });

const strengthChoice = () =>
  choice("Strength of the engine", strengths(), strength(), setForGame("strengths"));

function networkChoice() {
  const words = { rollout: "none: random playouts", uniform: "none: uniform" };
  const options = networkNames().map((name) => [name, words[name] ?? name]);
  return choice("Network", options, network(), setForGame("networks"));
}

function showClocks(host) {
  const texts = clockTexts();
  for (const each of host.querySelectorAll(".player")) {
    const player = Number(each.dataset.player);
    each.querySelector(".clock").textContent = texts[player];
    each.classList.toggle("to-move", app.view?.to_move === player && !app.node.end);
  }
}
