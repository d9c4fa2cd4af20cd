// The page's one dialog.

import { byId, h } from "./dom.js";

export function openDialog(title, ...content) {
  const dialog = byId("dialog");
  const close = h("button", { class: "quiet", "aria-label": "Close", onclick: closeDialog }, "✕");
  dialog.replaceChildren(
    h("div", { class: "title" }, h("h2", { id: "dialog-title" }, title), close),
    ...content,
  );
  if (!dialog.open) dialog.showModal();
}

/** Ask before what cannot be undone; true if the reader agrees. */
export function ask(question, verb) {
  return new Promise((resolve) => {
    const agree = () => {
      resolve(true);
      closeDialog();
    };
    const button = h("button", { class: "main", onclick: agree }, verb);
    const cancel = h("button", { onclick: () => closeDialog() }, "Cancel");
    openDialog(question, h("div", { class: "bar" }, button, cancel));
    byId("dialog").addEventListener("close", () => resolve(false), { once: true });
    button.focus();
  });
}

export const closeDialog = () => byId("dialog").close();
