// The game on the page: its tree, the current node, and what the server says of that position.

import { emit } from "./bus.js";
import { post } from "./api.js";
import * as storage from "./storage.js";
import { childOf, movesTo, newTree, packed, pathTo, unpacked } from "./tree.js";

const DEFAULTS = {
  players: ["person", "engine"],
  strengths: {}, // by game, as chosen by the reader
  networks: {},
  clock: "none",
  heat: "visits",
  budget: "20000",
  theme: "auto",
};

const BUDGETS = [
  ["simulations:50", "50 simulations"],
  ["simulations:400", "400 simulations"],
  ["simulations:3200", "3,200 simulations"],
  ["simulations:20000", "20,000 simulations"],
  ["seconds:1", "1 second a move"],
  ["seconds:5", "5 seconds a move"],
  ["seconds:30", "30 seconds a move"],
];

export const app = {
  games: [],
  maxSimulations: Infinity, // that the server allows
  tree: null,
  node: null,
  view: null,
  tab: "play",
  awaits: false, // the engine's move
  settings: structuredClone(DEFAULTS),
};

export const currentGame = () => app.games.find((game) => game.name === app.tree?.game);

/** Return the evaluators of the current game, its usual one first. */
export const networkNames = () => [...(currentGame()?.networks ?? []), "rollout", "uniform"];

/** Return the network that was chosen for the current game, or its usual one. */
export function network() {
  const names = networkNames();
  const chosen = app.settings.networks[app.tree.game];
  return names.includes(chosen) ? chosen : names[0];
}

/** Return the [budget, text] pairs that the server allows; a budget is "simulations:50" or "50". */
export const allowed = (budgets) =>
  budgets.filter(([budget]) => {
    const [number, kind] = budget.split(":").reverse();
    return (kind ?? "simulations") !== "simulations" || Number(number) <= app.maxSimulations;
  });

/** Return the strengths of the engine in the current game as [value, text] pairs. */
export function strengths() {
  const levels = (currentGame()?.levels ?? []).map(({ number, name, elo }) => [
    `level:${number}`,
    `${number} ${name}${elo === null ? "" : `, Elo ${Math.round(elo)}`}`,
  ]);
  return [...levels, ...allowed(BUDGETS)];
}

/** Return the strength that was chosen for the current game, or its usual one. */
export function strength() {
  const values = strengths().map(([value]) => value);
  const chosen = app.settings.strengths[app.tree.game];
  if (values.includes(chosen)) return chosen;
  const levels = values.filter((value) => value.startsWith("level:"));
  if (levels.length) return levels[Math.floor(levels.length / 2)];
  return values.includes("simulations:400") ? "simulations:400" : values[0];
}

export const positionOf = (node) => ({
  game: app.tree.game,
  start: app.tree.start,
  moves: movesTo(node),
});

export const position = () => positionOf(app.node);

export const playerName = (player) => app.view?.players[player] ?? "";

/** Whether the game has ended at the current node: by its rules, by resignation or on time. */
export const isOver = () => app.view.terminal || app.node.end !== null;

export function set(settings) {
  Object.assign(app.settings, settings);
  storage.saveSettings(app.settings);
  emit("settings");
}

export function complain(error) {
  if (error.name !== "AbortError") emit("problem", error.message);
}

let latest = 0;

/** Go to a node of the open game; `view` spares the question to the server. */
export async function goTo(node, view = null) {
  if (pathTo(node)[0] !== app.tree.root) return false;
  const number = ++latest;
  try {
    node.view ??= view ?? (await post("api/position", { position: positionOf(node) }));
  } catch (error) {
    complain(error);
    return false;
  }
  if (number !== latest) return false;
  app.node = node;
  app.view = node.view;
  if (node.parent) node.parent.recent = node;
  remember();
  emit("view");
  return true;
}

/** Play a move at the current node. */
export const play = (move, view = null) => goTo(childOf(app.node, move), view);

/** Open a position, after `ply` of its moves; false if the server refuses it.
 *
 * `variations` are other lines of moves from its start.
 */
export async function open({ game, start = null, moves = [] }, ply = moves.length, variations = []) {
  try {
    const view = await post("api/position", { position: { game, start, moves } });
    const tree = newTree(view.position.game, view.position.start);
    let node = tree.root;
    let shown = node;
    view.position.moves.forEach((move, i) => {
      node = childOf(node, move);
      if (i < ply) shown = node;
    });
    node.view = view;
    for (const line of variations) line.reduce(childOf, tree.root);
    app.tree = tree;
    app.awaits = false;
    emit("opened");
    return await goTo(shown);
  } catch (error) {
    complain(error);
    return false;
  }
}

export function remember() {
  const { game, start, moves } = position();
  const parts = new URLSearchParams({ game });
  if (start) parts.set("start", start);
  if (moves.length) parts.set("moves", moves.map(encodeURIComponent).join(" "));
  if (app.tab !== "play") parts.set("tab", app.tab);
  history.replaceState(null, "", `#${parts}`);
  document.title = `${currentGame()?.title ?? game} · pyengine`;
  storage.save({ ...packed(app.tree, app.node), awaits: app.awaits });
}

/** Return the position that the page's address names, or null. */
export function addressed() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (!parts.has("game")) return null;
  const moves = (parts.get("moves") ?? "").split(" ").filter(Boolean).map(decoded);
  return { game: parts.get("game"), start: parts.get("start"), moves };
}

/** Return the name of a move in an address, where it may contain spaces. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a link by hand
  }
}

export const addressedTab = () => new URLSearchParams(location.hash.slice(1)).get("tab");

/** Restore what this tab showed; else what the address says, else the first game. */
export async function restore() {
  Object.assign(app.settings, storage.readSettings());
  const wanted = addressed();
  const record = await storage.claim();
  if (record?.nodes && (!wanted || isAt(record, wanted))) {
    const { tree, node } = unpacked(record);
    Object.assign(app, { tree, awaits: record.awaits });
    emit("opened");
    if (await goTo(node)) return;
  }
  if (!(wanted && (await open(wanted)))) await open({ game: app.games[0].name });
}

function isAt(record, wanted) {
  const { tree, node } = unpacked(record);
  return (
    tree.game === wanted.game &&
    (tree.start ?? null) === (wanted.start ?? null) &&
    JSON.stringify(movesTo(node)) === JSON.stringify(wanted.moves)
  );
}
