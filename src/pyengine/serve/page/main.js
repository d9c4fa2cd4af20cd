// Starts the page: games, tabs, theme, and what was open before.

import { get } from "./api.js";
import { emit, on } from "./bus.js";
import { byId, h } from "./dom.js";
import { listenToKeys, showKeys } from "./keys.js";
import { newGame, resume, stopEngine } from "./play/match.js";
import { showPlay } from "./play/page.js";
import { addressed, addressedTab, app, currentGame, open, remember, restore, set } from "./session.js";
import { showThinking } from "./think/page.js";
import { showTraining } from "./training.js";

const TABS = ["play", "think", "training"];
const THEMES = ["auto", "light", "dark"];
const PROBLEM = 8000; // milliseconds that an error stays

function showTab(name) {
  app.tab = TABS.includes(name) && !byId(`tab-${name}`).hidden ? name : "play";
  for (const each of TABS) {
    const isOpen = each === app.tab;
    byId(each).hidden = !isOpen;
    byId(`tab-${each}`).setAttribute("aria-selected", isOpen);
    byId(`tab-${each}`).tabIndex = isOpen ? 0 : -1;
  }
  if (app.tab !== "play") stopEngine();
  if (app.tree) remember();
  emit("tab");
}

function listenToTabs() {
  for (const name of TABS) byId(`tab-${name}`).addEventListener("click", () => showTab(name));
  document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const names = TABS.filter((name) => !byId(`tab-${name}`).hidden);
    showTab(names[(names.indexOf(app.tab) + step + names.length) % names.length]);
    byId(`tab-${app.tab}`).focus();
  });
}

function showTheme() {
  const { theme } = app.settings;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId("theme").setAttribute("aria-label", `${theme} theme; change it`);
  byId("theme").title = "Light or dark";
  byId("theme").textContent = theme[0].toUpperCase() + theme.slice(1);
}

function showGames() {
  const select = byId("game");
  select.replaceChildren(...app.games.map(({ name, title }) => h("option", { value: name }, title)));
  select.addEventListener("change", async () => {
    await newGame(select.value);
    select.value = app.tree.game;
  });
  on("opened", () => {
    const { game } = app.tree;
    const isListed = app.games.some(({ name }) => name === game);
    if (!isListed) addGame(select, game);
    select.value = game;
  });
  on("view", learn);
}

/** A game with other parameters came by the address or from a file. */
function addGame(select, name) {
  const like = app.games.find((each) => each.name.split("(")[0] === name.split("(")[0]);
  app.games.push({ ...like, name, title: name, networks: [], levels: [], isGuess: true });
  select.append(h("option", { value: name }, name));
}

/** Take the networks and levels of a game that is not in the list from the server's answer. */
function learn() {
  const { entry } = app.view;
  const game = currentGame();
  if (!entry || !game?.isGuess) return;
  Object.assign(game, { networks: entry.networks, levels: entry.levels, isGuess: false });
  emit("settings");
}

let hiding = null;
function showProblem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = !text;
  clearTimeout(hiding);
  if (text && app.tree) hiding = setTimeout(() => (byId("problem").hidden = true), PROBLEM);
}

async function follow() {
  const wanted = addressed();
  showTab(addressedTab() ?? "play");
  if (wanted) await open(wanted);
}

async function start() {
  on("problem", showProblem);
  on("online", (isOnline) => showProblem(isOnline ? "" : "The server does not answer. Trying again…"));
  on("settings", showTheme);
  on("online", (isOnline) => isOnline && !app.tree && location.reload());
  byId("theme").addEventListener("click", () => {
    set({ theme: THEMES[(THEMES.indexOf(app.settings.theme) + 1) % THEMES.length] });
  });
  byId("show-keys").addEventListener("click", showKeys);
  const { games, max_simulations: maxSimulations } = await get("api/games");
  Object.assign(app, { games, maxSimulations: maxSimulations ?? Infinity });
  showGames();
  showPlay();
  showThinking(byId("think"));
  await showTraining(byId("training"), byId("tab-training"));
  const tab = addressedTab();
  await restore();
  emit("settings");
  listenToTabs();
  listenToKeys(TABS.map((name) => () => showTab(name)));
  showTab(tab ?? "play");
  window.addEventListener("hashchange", follow);
  document.documentElement.dataset.ready = "";
  await resume();
}

start().catch((error) => showProblem(error.message));
