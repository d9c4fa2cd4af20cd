// The server's answers. A request fails with an Error that has the server's words.

import { emit } from "./bus.js";

const RETRY = 1000; // milliseconds

let isOnline = true;

function setOnline(value) {
  if (value === isOnline) return;
  isOnline = value;
  emit("online", value);
}

/** Ask until the server answers. */
async function check() {
  const answers = await fetch("health").then((response) => response.ok, () => false);
  setOnline(answers);
  if (!answers) setTimeout(check, RETRY);
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    setOnline(false);
    setTimeout(check, RETRY);
    throw new Error("The server does not answer.");
  }
  setOnline(true);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
  return answer;
}

export const get = (path) => ask(path);

export const post = (path, body, signal) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

/** A WebSocket that opens when needed, and sends its last message again after a break. */
export class Channel {
  constructor(path, onMessage) {
    this.path = path;
    this.onMessage = onMessage;
    this.socket = null;
    this.wanted = null;
  }

  /** Send a message; it is repeated if the connection breaks, until `finish` or `stop`. */
  send(message) {
    this.wanted = message;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else this.open();
  }

  /** The answer is complete. */
  finish() {
    this.wanted = null;
  }

  stop() {
    this.wanted = null;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send('{"type":"stop"}');
  }

  open() {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const address = new URL(this.path, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    address.hash = "";
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.onopen = () => this.wanted && socket.send(JSON.stringify(this.wanted));
    socket.onmessage = (event) => this.onMessage(JSON.parse(event.data));
    socket.onclose = () => this.again();
  }

  again() {
    check();
    setTimeout(() => this.wanted && this.open(), RETRY);
  }
}
