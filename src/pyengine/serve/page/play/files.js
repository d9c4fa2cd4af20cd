// Load and save games: SGF for Go and Gomoku, lists of moves for others.

import { post } from "../api.js";
import { h } from "../dom.js";
import { app, complain, currentGame, open, positionOf } from "../session.js";
import { endOf } from "../tree.js";
import { closeDialog, openDialog } from "../dialog.js";
import { mayReplace, stopEngine } from "./match.js";

export function openFiles(given = "") {
  const text = h("textarea", { id: "file-text", rows: 8, spellcheck: "false" });
  text.value = given;
  const file = h("input", { type: "file", "aria-label": "File", accept: ".sgf,.txt,.moves,text/plain" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  file.addEventListener("change", async () => {
    text.value = file.files[0] ? await file.files[0].text() : "";
  });
  const formats = currentGame().sgf ? ["sgf", "moves"] : ["moves"];
  openDialog(
    "Load or save a game",
    h("p", {}, "Choose a file, or paste a game: SGF of Go and Gomoku, or moves such as ", h("code", {}, example()), "."),
    file,
    h("label", { for: "file-text" }, "Text of the game"),
    text,
    problem,
    h(
      "div",
      { class: "bar" },
      h("button", { class: "main", onclick: () => load(text.value, problem) }, "Load"),
      formats.map((format) =>
        h("button", { onclick: () => save(format, text, problem) }, `Save as ${names[format]}`),
      ),
    ),
  );
}

const names = { sgf: "SGF", moves: "moves" };

const example = () => app.view.legal.slice(0, 3).map((each) => each.move).join(" ") || "e5 d4";

async function load(text, problem) {
  const format = text.trimStart().startsWith("(;") ? "sgf" : null;
  try {
    const answer = await post("api/import", { text, format, game: app.tree.game });
    if (!(await mayReplace())) return openFiles(text);
    stopEngine();
    const { position, variations } = answer;
    if (await open(position, position.moves.length, variations ?? [])) closeDialog();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

async function save(format, text, problem) {
  try {
    const answer = await post("api/export", { position: positionOf(endOf(app.node)), format });
    text.value = answer.text;
    download(answer.file, answer.text);
    problem.hidden = true;
  } catch (error) {
    complain(error);
  }
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
