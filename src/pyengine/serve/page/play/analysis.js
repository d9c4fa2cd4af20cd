// The analysis as a table: the best moves with their figures.

import { emit, on } from "../bus.js";
import { choice, h, row } from "../dom.js";
import { counted, fixed, percent, proofName } from "../format.js";
import { HEATS } from "../board/heat.js";
import { app, playerName, set } from "../session.js";
import { budgets, live } from "./live.js";
import { playMove } from "./match.js";

const ROWS = 10;
const LINE = 8; // moves of a line in the table

export function showAnalysis(host, button) {
  const summary = h("p", { class: "summary" });
  const bar = h("div", { class: "rate", "aria-hidden": "true" }, h("span"));
  const lines = Array.from({ length: ROWS }, () => line());
  const head = ["Move", "Win", "Visits", "Prior", "LCB", "Line"].map((text) =>
    h("th", { scope: "col", class: text === "Line" ? "pv" : null }, text),
  );
  const table = h(
    "table",
    { class: "figures" },
    h("caption", { class: "unseen" }, "Best moves"),
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, lines.map((each) => each.element)),
  );
  const figures = h("div", { class: "analysed", hidden: true }, bar, summary, table);
  host.append(options(), figures);
  on("live", () => {
    button.setAttribute("aria-pressed", live.isOn);
    button.textContent = live.isOn ? "Stop" : "Analyse";
    figures.hidden = !live.result;
    if (live.result) fill(live.result, bar.firstChild, summary, lines);
  });
}

function options() {
  const heat = choice("Heat map", HEATS, app.settings.heat, (value) => {
    set({ heat: value });
    emit("live");
  });
  const budget = choice("Length of the analysis", budgets(), app.settings.budget, (value) =>
    set({ budget: value }),
  );
  on("settings", () => (heat.value = app.settings.heat));
  return h("div", { class: "pair" }, row("Show", heat), row("Search", budget));
}

function line() {
  const cells = Array.from({ length: 5 }, () => h("td", { class: "number" }));
  const button = h("button", { class: "move" });
  const each = { move: null, button, cells };
  const point = (move) => () => emit("point", move && each.move);
  button.addEventListener("click", () => playMove(each.move.move));
  button.addEventListener("focus", point(true));
  button.addEventListener("blur", point(false));
  cells[4].className = "pv";
  each.element = h(
    "tr",
    { onpointerenter: point(true), onpointerleave: point(false) },
    h("td", {}, button),
    cells,
  );
  return each;
}

function fill(result, bar, summary, lines) {
  const first = playerName(0);
  bar.style.width = percent(result.winrate_black);
  const parts = [
    `${first} wins ${percent(result.winrate_black)}`,
    lead(result.score),
    `${counted(result.visits)} visits`,
    `${counted(Math.round(result.simulations / Math.max(result.seconds, 1e-3)))} a second`,
  ];
  if (result.proven !== null) parts[0] = proof(result.proven);
  summary.textContent = parts.filter(Boolean).join(" · ");
  summary.classList.toggle("proven", result.proven !== null);
  const moves = result.moves.filter((each, i) => i === 0 || each.visits > 0 || each.proven !== null);
  lines.forEach((each, i) => fillLine(each, moves[i]));
}

function lead(score) {
  if (score === null) return null;
  return `${playerName(score < 0 ? 1 : 0)} leads by ${fixed(Math.abs(score), 1)}`;
}

function proof(proven) {
  const mover = playerName(app.view.to_move);
  return `${proofName(proven)[0].toUpperCase()}${proofName(proven).slice(1)} proven for ${mover}`;
}

function fillLine(line, move) {
  const { element, button, cells } = line;
  element.hidden = !move;
  line.move = move ?? null;
  if (!move) return;
  button.textContent = move.move;
  const isProven = move.proven !== null;
  const win = move.q === null ? "–" : percent((move.q + 1) / 2);
  cells[0].textContent = isProven ? `${proofName(move.proven)} proven` : win;
  cells[0].classList.toggle("proven", isProven);
  cells[1].textContent = counted(move.visits);
  cells[2].textContent = percent(move.prior);
  cells[3].textContent = move.lcb === null ? "–" : percent((move.lcb + 1) / 2);
  cells[4].textContent = move.pv.slice(1, LINE).join(" ");
}
