// The page's one dialog.

import { byId, h } from "./dom.js";

export function openDialog(title, ...content) {
  const dialog = byId("dialog");
  const close = h("button", { class: "quiet", "aria-label": "Close", onclick: closeDialog }, "✕");
  dialog.replaceChildren(
    h("div", { class: "title" }, h("h2", { id: "dialog-title" }, title), close),
    ...content,
  );
  dialog.showModal();
}

export const closeDialog = () => byId("dialog").close();
