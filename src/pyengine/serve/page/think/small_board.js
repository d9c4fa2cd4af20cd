// A small board of a position some moves after the current one.

import { Board } from "../board/board.js";
import { post } from "../api.js";
import { h } from "../dom.js";
import { app, complain, position } from "../session.js";

const known = new Map(); // views by position, the newest last
const MOST = 200;

async function viewAfter(moves) {
  const { game, start, moves: before } = position();
  const wanted = { game, start, moves: [...before, ...moves] };
  const key = JSON.stringify(wanted);
  if (!known.has(key)) {
    known.set(key, await post("api/position", { position: wanted }));
    if (known.size > MOST) known.delete(known.keys().next().value);
  }
  return known.get(key);
}

export class SmallBoard {
  constructor() {
    this.element = h("div", { class: "small-board" });
    this.board = new Board(this.element, { hasLabels: true });
    this.number = 0;
  }

  /** Show the position after some moves; true unless another was asked for since. */
  async show(moves) {
    const number = ++this.number;
    try {
      const view = await viewAfter(moves);
      if (number !== this.number) return false;
      if (view.board) {
        const after = moves.length ? ` after ${moves.join(" ")}` : "";
        this.board.show(view, { players: app.view.players, label: `Board${after}` });
      } else {
        this.element.replaceChildren(h("pre", {}, view.text));
      }
      this.view = view;
      return true;
    } catch (error) {
      complain(error);
      return false;
    }
  }
}
