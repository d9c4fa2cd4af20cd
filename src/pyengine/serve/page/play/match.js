// The game that is being played: whose turn it is, the engine's moves, clocks, resignation, undo.

import { post } from "../api.js";
import { emit, on } from "../bus.js";
import { ask } from "../dialog.js";
import { clockText } from "../format.js";
import { app, complain, goTo, isOver, network, open, play, playerName, position, remember, strength } from "../session.js";
import { plyOf, removeNode } from "../tree.js";

const TICK = 100; // milliseconds
const SHARE = 30; // the engine spends this part of its time on a move

let request = null; // aborts the engine's search
let ticking = null;
let turnBegan = 0;

export const isThinking = () => request !== null;

const isEngine = (player) => app.settings.players[player] === "engine";

/** Return a clock's time and increment in milliseconds; null without one. */
function clockSetting() {
  const match = /^(\d+)\+(\d+)$/.exec(app.settings.clock);
  return match && { time: 1000 * match[1], increment: 1000 * match[2] };
}

/** Return what both players have left, in milliseconds. */
function timeLeft() {
  const setting = clockSetting();
  if (!setting) return null;
  const left = [...(app.node.clock ?? [setting.time, setting.time])];
  if (ticking) left[app.view.to_move] -= performance.now() - turnBegan;
  return left;
}

/** Ask before another game replaces this one with its variations. */
export const mayReplace = async () =>
  !app.tree.root.children.length || (await ask("Replace this game and its variations?", "Replace"));

/** Begin a game of the current kind, or of another. */
export async function newGame(name = app.tree.game, start = null) {
  if (!(await mayReplace())) return;
  stopEngine();
  if (await open({ game: name, start })) await nextTurn();
}

/** Play a move for the player to move, and let the engine answer. */
export async function playMove(move, view = null) {
  if (isOver()) return;
  const left = timeLeft();
  const increment = clockSetting()?.increment;
  const mover = app.view.to_move;
  stopEngine();
  const isPlayed = await play(move, view);
  if (isPlayed && left) {
    left[mover] += increment;
    app.node.clock = left;
    remember();
  }
  if (isPlayed) await nextTurn();
}

/** Let the engine move if it is its turn; else let the clock run. */
export async function nextTurn() {
  if (isOver()) return;
  startClock();
  if (isEngine(app.view.to_move)) await engineMove();
}

/** Let the engine choose a move for the player to move. */
export async function engineMove() {
  if (isOver() || request) return;
  const node = app.node;
  const own = new AbortController();
  request = own;
  app.awaits = true;
  remember();
  startClock();
  emit("thinking");
  try {
    const answer = await post("api/move", { position: position(), ...budget() }, own.signal);
    if (request !== own) return;
    request = null;
    app.awaits = false;
    if (app.node === node) await playMove(answer.move, answer.view);
  } catch (error) {
    complain(error);
  } finally {
    if (request === own) request = null;
    emit("thinking");
  }
}

function budget() {
  const [kind, number] = strength().split(":");
  if (kind === "level") return { level: Number(number), network: network() };
  const left = timeLeft();
  const seconds = left && Math.max(0.05, left[app.view.to_move] / 1000 / SHARE);
  if (kind === "seconds") return { seconds: Math.min(Number(number), seconds ?? Infinity), network: network() };
  return { simulations: Number(number), network: network() };
}

export function stopEngine() {
  stopClock();
  app.awaits = false;
  if (!request) return;
  request.abort();
  request = null;
  emit("thinking");
}

/** Take back the last move and the engine's answer; go back if other moves follow. */
export async function undo() {
  stopEngine();
  let node = app.node;
  if (node.end) node.end = null;
  else if (node.children.length) node = node.parent ?? node;
  else if (node.parent) node = withoutLast(node);
  await goTo(node);
  emit("tree");
}

function withoutLast(node) {
  let parent = node.parent;
  removeNode(node);
  const toMove = parent.view?.to_move;
  if (toMove >= 0 && isEngine(toMove) && !isEngine(1 - toMove) && parent.parent) {
    const before = parent.parent;
    if (!parent.children.length) removeNode(parent);
    parent = before;
  }
  return parent;
}

/** Resign for the person to move; against the engine, for the person. */
export async function resign() {
  if (isOver() || !(await ask("Resign this game?", "Resign")) || isOver()) return;
  const mover = app.view.to_move;
  const loser = isEngine(mover) && !isEngine(1 - mover) ? 1 - mover : mover;
  end(`${playerName(1 - loser)} wins: ${playerName(loser)} resigned`);
}

function end(text) {
  stopEngine();
  app.node.end = text;
  remember();
  emit("view");
}

function startClock() {
  if (!clockSetting() || ticking) return;
  turnBegan = performance.now();
  ticking = setInterval(tick, TICK);
}

function stopClock() {
  clearInterval(ticking);
  ticking = null;
}

function tick() {
  const mover = app.view.to_move;
  if (mover >= 0 && timeLeft()[mover] <= 0) {
    app.node.clock = timeLeft().map((left) => Math.max(0, left));
    end(`${playerName(1 - mover)} wins on time`);
  }
  emit("clock");
}

on("settings", () => clockSetting() || stopClock());

export function clockTexts() {
  const left = timeLeft();
  return left ? left.map(clockText) : ["", ""];
}

let last = null;
on("view", () => {
  if (app.node !== last) stopClock();
  if (request && app.node !== last) stopEngine(); // the reader has gone elsewhere
  last = app.node;
});

/** Go on after a reload. */
export async function resume() {
  if (app.awaits) await engineMove();
  else if (plyOf(app.node) > 0 && app.node.clock) await nextTurn();
}
