// Numbers as words.

export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)}%`;

export const signed = (value) =>
  value === null || value === undefined ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

export const fixed = (value, digits = 2) =>
  value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−");

export const counted = (count) => count.toLocaleString("en");

/** Return the word for a proven value: 1, 0 or -1. */
export const proofName = (value) => (value > 0 ? "win" : value < 0 ? "loss" : "draw");

export function clockText(milliseconds) {
  const seconds = Math.max(0, milliseconds / 1000);
  if (seconds < 10) return seconds.toFixed(1);
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}
