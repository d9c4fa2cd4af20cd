// Events between the parts of the page: "view" (another position), "tree" (variations), "live"
// (figures of the analysis), "settings", "point" (a move under the pointer), "tab", "online".

const listeners = new Map();

export function on(names, listener) {
  for (const name of names.split(" ")) {
    if (!listeners.has(name)) listeners.set(name, []);
    listeners.get(name).push(listener);
  }
}

export function emit(name, value) {
  for (const listener of listeners.get(name) ?? []) listener(value);
}
