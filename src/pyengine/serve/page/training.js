// The page "Training": curve, losses and the newest games of a run, refreshed while it trains.

import { get } from "./api.js";
import { Board } from "./board/board.js";
import { on } from "./bus.js";
import { chart, figure } from "./charts.js";
import { choice, h } from "./dom.js";
import { post } from "./api.js";
import { app, complain, open } from "./session.js";
import { counted } from "./format.js";

const EVERY = 4000; // milliseconds between two requests
const LOSSES = { policy: "first", value: "second" };
const PARTS = [["selfplay", "Self-play"], ["learner", "Learner"], ["gate", "Gate"]];

/** Show the page if the server has runs. */
export async function showTraining(host, tab) {
  const { runs } = await get("api/training");
  if (!runs?.length) return;
  tab.hidden = false;
  const curve = h("div", { class: "card" });
  const losses = h("div", { class: "card" });
  const status = h("dl", { class: "facts card" });
  const viewer = new GameViewer();
  let name = runs[0];
  const select = choice("Run", runs.map((run) => [run, run]), name, (value) => {
    name = value;
    refresh();
  });
  host.append(
    h("div", { class: "bar" }, h("h2", {}, "Run"), select),
    status,
    h("div", { class: "charts" }, curve, losses),
    viewer.element,
  );

  async function refresh() {
    if (app.tab !== "training" || document.hidden) return;
    try {
      const run = await get(`api/training/${encodeURIComponent(name)}`);
      status.replaceChildren(...statusOf(run));
      curve.replaceChildren(curveOf(run.curve));
      losses.replaceChildren(lossesOf(run.losses));
      viewer.list(run.games);
    } catch (error) {
      complain(error);
    }
  }
  on("tab", refresh);
  setInterval(refresh, EVERY);
}

const statusOf = ({ status }) =>
  PARTS.map(([part, title]) => h("div", {}, h("dt", {}, title), h("dd", {}, status[part] || "not started")));

function curveOf(points) {
  const rated = points.filter((each) => each.elo !== null);
  if (!rated.length) return figure("Playing strength", "no candidate has been rated yet", "");
  const line = rated.map((each) => [each.games ?? each.step, each.elo]);
  const accepted = rated.filter((each) => each.accepted).map((each) => [each.games ?? each.step, each.elo]);
  const elos = line.map(([, elo]) => elo);
  const best = Math.round(Math.max(...elos));
  const svg = chart([{ points: line, kind: "first" }, { points: accepted, kind: "dots" }], {
    label: `Playing strength by games of self-play; best ${best} Elo`,
    x: [0, line.at(-1)[0]],
    y: [Math.min(0, ...elos), Math.max(...elos)],
  });
  return figure("Playing strength", "Elo by games of self-play; dots: accepted by the gate", svg);
}

function lossesOf(lines) {
  const series = Object.entries(LOSSES)
    .map(([name, kind]) => ({ kind, points: lines.flatMap((each) => point(each, name)) }))
    .filter(({ points }) => points.length);
  if (!series.length) return figure("Losses", "no training step yet", "");
  const all = series.flatMap(({ points }) => points);
  const svg = chart(series, {
    label: "Losses of policy and value by training step",
    x: [0, Math.max(...all.map(([step]) => step))],
    y: [0, Math.max(...all.map(([, loss]) => loss))],
  });
  return figure("Losses", "policy (solid) and value (dashed) by step", svg);
}

const point = (line, name) => {
  const value = line[name] ?? line[`${name}_loss`];
  return typeof value === "number" && typeof line.step === "number" ? [[line.step, value]] : [];
};

/** The newest games, one of them on a board. */
class GameViewer {
  constructor() {
    this.items = h("ol", { class: "losses games" });
    this.place = h("div", { class: "small-board" });
    this.board = new Board(this.place, {});
    this.slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "Move of the game", oninput: () => this.show() });
    this.caption = h("p", { class: "hint", role: "status" });
    const toBoard = h("button", { onclick: () => this.analyse() }, "Open on the board");
    this.shown = h("div", { hidden: true }, this.place, h("div", { class: "bar" }, this.slider), this.caption, toBoard);
    this.element = h(
      "section",
      { class: "card" },
      h("h2", {}, "Newest games of self-play"),
      h("div", { class: "split" }, this.items, this.shown),
    );
  }

  list(games) {
    this.games = games;
    const entry = (game) =>
      h(
        "li",
        {},
        h(
          "button",
          { class: "loss", onclick: () => this.choose(game), "aria-pressed": this.game?.id === game.id },
          h("b", {}, counted(game.id)),
          h("span", {}, game.result || "not finished"),
          h("span", { class: "hint" }, `${game.moves.length} moves`),
        ),
      );
    this.items.replaceChildren(...games.map(entry));
    if (!this.game && games.length) this.choose(games[0]);
  }

  choose(game) {
    this.game = game;
    this.shown.hidden = false;
    this.slider.max = game.moves.length;
    this.slider.value = game.moves.length;
    this.list(this.games);
    this.show();
  }

  async show() {
    const { game } = this;
    const ply = Number(this.slider.value);
    this.caption.textContent = `Game ${counted(game.id)}, move ${ply} of ${game.moves.length}: ${game.result}`;
    const position = { game: game.game, start: game.start ?? null, moves: game.moves.slice(0, ply) };
    try {
      const view = await post("api/position", { position });
      if (view.board && game === this.game) this.board.show(view, { label: this.caption.textContent });
    } catch (error) {
      complain(error);
    }
  }

  async analyse() {
    const { game, moves, start } = this.game;
    if (await open({ game, start: start ?? null, moves }, Number(this.slider.value))) {
      document.getElementById("tab-play").click();
    }
  }
}
