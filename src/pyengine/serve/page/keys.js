// The keyboard: arrows through the game, letters for commands.

import { h } from "./dom.js";
import { openDialog } from "./dialog.js";
import { HEATS } from "./board/heat.js";
import { app, set } from "./session.js";
import { emit } from "./bus.js";
import { commands } from "./play/page.js";
import { thinkKey } from "./think/page.js";

const KEYS = [
  ["ArrowLeft", "←", "previous position", commands.back],
  ["ArrowRight", "→", "next position", commands.forward],
  ["Home", "Home", "first position", commands.first],
  ["End", "End", "last position", commands.last],
  ["a", "a", "analyse, or stop", commands.analyse],
  ["h", "h", "next heat map", nextHeat],
  ["e", "e", "the engine moves", commands.engine],
  ["u", "u", "undo", commands.undo],
  ["p", "p", "pass", commands.pass],
  ["r", "r", "resign", commands.resign],
  ["n", "n", "new game", commands.new],
  ["s", "s", "set up a position", commands.setup],
  ["o", "o", "load or save a game", commands.files],
  ["v", "v", "review the game", commands.review],
];

function nextHeat() {
  const names = HEATS.map(([name]) => name);
  set({ heat: names[(names.indexOf(app.settings.heat) + 1) % names.length] });
  emit("live");
}

export function listenToKeys(tabs) {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.target.matches("input") && event.key.length > 1) return; // arrows move a slider
    if (event.key === "?") return showKeys();
    const number = Number(event.key);
    if (tabs[number - 1]) return tabs[number - 1]();
    if (app.tab === "think") return thinkKey(event);
    const key = KEYS.find(([name]) => name === event.key);
    if (!key || app.tab !== "play") return;
    event.preventDefault();
    key[3]();
  });
}

const isTyping = (element) =>
  element.matches("input:not([type=range]), select, textarea") || element.closest("[role=tablist]") !== null;

export function showKeys() {
  const rows = [...KEYS, ["", "1 2 3", "the pages"], ["", "?", "this list"]];
  openDialog(
    "Keys",
    h("p", {}, "Step by step, ← and → go through the simulations, and space plays them."),
    h("p", {}, "On the board, Tab and the arrows choose a point and Enter plays there."),
    h("dl", { class: "keys" }, rows.flatMap(([, key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
  );
}
