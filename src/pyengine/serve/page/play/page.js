// The page "Play and analyse": the board, what is drawn on it, and the commands.

import { Board } from "../board/board.js";
import { heatOf, numberedLine } from "../board/heat.js";
import { emit, on } from "../bus.js";
import { byId, h } from "../dom.js";
import { closeDialog, openDialog } from "../dialog.js";
import { app, currentGame, goTo, playerName } from "../session.js";
import { endOf, nextOf, pathTo } from "../tree.js";
import { showAnalysis } from "./analysis.js";
import { openFiles } from "./files.js";
import { showGraph } from "./graph.js";
import { live, switchAnalysis } from "./live.js";
import { engineMove, isThinking, newGame, playMove, resign, stopEngine, undo } from "./match.js";
import { showMoves } from "./moves.js";
import { showPlayers } from "./players.js";
import { showReview, startReview } from "./review.js";
import { place, setup, setupView, toggleSetup } from "./setup.js";

let board = null;
let origin = null; // of the piece that is being moved
let pointed = null; // a move with its line

/** The commands of the buttons and keys. */
export const commands = {
  first: () => goTo(app.tree.root),
  back: () => app.node.parent && goTo(app.node.parent),
  forward: () => app.node.children.length && goTo(nextOf(app.node)),
  last: () => goTo(endOf(app.node)),
  new: () => newGame(),
  undo,
  pass: () => legal("pass") && playMove("pass"),
  engine: engineMove,
  resign,
  setup: toggleSetup,
  files: () => openFiles(),
  analyse: () => switchAnalysis(),
  review: startReview,
};

const legal = (move) => app.view.legal.find((each) => each.move === move);

export function showPlay() {
  board = new Board(byId("board"), { onCell: choose, onPoint: pointAtCell });
  showPlayers(byId("match"));
  showAnalysis(byId("analysis"), byId("analyse"));
  showGraph(byId("graph"));
  showReview(byId("reviewed"));
  showMoves(byId("moves"));
  for (const [id, command] of Object.entries(commands)) byId(id).addEventListener("click", command);
  byId("ply").addEventListener("input", (event) => goToPly(Number(event.target.value)));
  on("view setup", showPosition);
  on("view setup thinking", showStatus);
  on("live settings", drawFigures);
  on("point", point);
}

function showPosition() {
  origin = null;
  pointed = null;
  const view = setup.isOn ? setupView() : app.view;
  byId("pass").hidden = !legal("pass");
  if (view.board) showBoard(view);
  else showText(view);
  const line = pathTo(endOf(app.node));
  const ply = byId("ply");
  ply.max = line.length - 1;
  ply.value = line.indexOf(app.node);
  ply.setAttribute("aria-valuetext", `Move ${ply.value} of ${ply.max}`);
}

function showBoard(view, marked = []) {
  if (!byId("board").querySelector("svg")) board.shape = null;
  board.show(view, { label: `${currentGame()?.title ?? "Game"} board`, marked });
  drawFigures();
}

/** A game without a board: its text and its moves. */
function showText(view) {
  const moves = view.legal.map(({ move }) =>
    h("button", { class: "move", onclick: () => playMove(move) }, move),
  );
  byId("board").replaceChildren(
    h("pre", { tabindex: 0 }, view.text),
    h("div", { class: "bar", role: "group", "aria-label": "Legal moves" }, moves),
  );
}

function showStatus() {
  const { view, node } = app;
  let text = node.end ?? view.result;
  if (setup.isOn) text = "Choose what to place, then the points";
  else if (!text && view.to_move >= 0) text = `${playerName(view.to_move)} to move`;
  if (isThinking()) text = `${playerName(view.to_move)} thinks…`;
  byId("status").textContent = text ?? "The game is over";
  byId("status").classList.toggle("over", view.terminal || node.end !== null);
}

function drawFigures() {
  if (!app.view?.board || setup.isOn || !board.geometry) return;
  if (pointed) {
    board.draw([], [numberedLine(pointed, app.view, board.geometry)]);
    return;
  }
  const { under, over } = heatOf(app.settings.heat, live.result, board.geometry);
  board.draw(under, over);
}

function point(move) {
  const isHere = move && (!move.node || move.node === app.node);
  pointed = isHere && move.pv.length ? move.pv : null;
  drawFigures();
}

function pointAtCell(cell) {
  if (!live.result || setup.isOn) return;
  const same = (each) => cell && each.cell && `${each.cell}` === `${cell}`;
  emit("point", live.result.moves.find((each) => same(each) && each.pv.length > 1) ?? null);
}

/** Answer a click on a cell: place, play, or take up a piece. */
function choose(cell) {
  if (setup.isOn) return place(cell);
  if (isThinking() || app.node.end) return;
  const { legal: moves } = app.view;
  const isAt = (a, b) => a && `${a}` === `${b}`;
  if (app.view.board.kind === "columns") return chooseColumn(cell[1]);
  const direct = moves.filter((each) => !each.from && isAt(each.cell, cell));
  if (direct.length) return pick(direct);
  const arrivals = origin ? moves.filter((each) => isAt(each.from, origin) && isAt(each.cell, cell)) : [];
  if (arrivals.length) return pick(arrivals);
  const departures = moves.filter((each) => isAt(each.from, cell));
  origin = departures.length && !isAt(origin, cell) ? cell : null;
  showBoard(app.view, origin ? [origin, ...departures.map((each) => each.cell)] : []);
}

function chooseColumn(column) {
  const move = app.view.legal.find((each) => each.cell?.[1] === column);
  if (move) playMove(move.move);
}

/** Play a move; ask if several go to the same cell, as promotions do. */
function pick(moves) {
  if (moves.length === 1) return playMove(moves[0].move);
  const play = (move) => () => {
    closeDialog();
    playMove(move);
  };
  const buttons = moves.map(({ move }) => h("button", { onclick: play(move) }, move));
  openDialog("Which move?", h("div", { class: "bar" }, buttons));
}

function goToPly(ply) {
  stopEngine();
  const line = pathTo(endOf(app.node));
  goTo(line[Math.min(ply, line.length - 1)]);
}
