// Setting up a position: stones placed by hand, then a game from there.

import { emit, on } from "../bus.js";
import { byId, choice, h } from "../dom.js";
import { app, complain, currentGame } from "../session.js";
import { newGame, stopEngine } from "./match.js";

export const setup = { isOn: false, cells: null };

let brush = "x";
let toMove = "x";

export function toggleSetup() {
  if (setup.isOn) return closeSetup();
  if (!currentGame()?.setup || !app.view.board) {
    return complain(new Error("Positions of this game cannot be set up."));
  }
  stopEngine();
  setup.isOn = true;
  setup.cells = app.view.board.cells.map((row) => [...row]);
  toMove = app.view.to_move === 1 ? "o" : "x";
  build();
  emit("setup");
}

function closeSetup() {
  end();
  emit("setup");
}

function end() {
  setup.isOn = false;
  byId("setup-bar").hidden = true;
}

on("opened", end); // another game

export function setupView() {
  const board = { ...app.view.board, cells: setup.cells };
  return { ...app.view, board, legal: [], last: null };
}

export function place([r, c]) {
  setup.cells[r][c] = setup.cells[r][c] === brush ? "." : brush;
  emit("setup");
}

function build() {
  const players = currentGame().players;
  const brushes = [["x", players[0]], ["o", players[1]], [".", "Nothing"]];
  const empty = () => {
    setup.cells = setup.cells.map((row) => row.map(() => "."));
    emit("setup");
  };
  const bar = byId("setup-bar");
  bar.hidden = false;
  bar.replaceChildren(
    h("span", {}, "Place"),
    choice("Place", brushes, brush, (value) => (brush = value)),
    h("span", {}, "To move"),
    choice("Player to move", brushes.slice(0, 2), toMove, (value) => (toMove = value)),
    h("button", { onclick: empty }, "Empty the board"),
    h("button", { class: "main", onclick: apply }, "Play from here"),
    h("button", { onclick: closeSetup }, "Cancel"),
  );
}

async function apply() {
  const start = `${setup.cells.map((row) => row.join("")).join("/")} ${toMove}`;
  await newGame(app.tree.game, start); // ends the setup, or the page says why not
}
