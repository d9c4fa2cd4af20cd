// Line charts.

import { h, s } from "./dom.js";

const WIDTH = 360;
const HEIGHT = 120;
const EDGE = { left: 34, right: 8, top: 8, bottom: 18 };

/** Return a chart of series [{name, points: [[x, y]], kind}]; `onPick` gets the x of a click.
 *
 * `kind` is "first", "second" (dashed) or "dots". `area` fills below the first series.
 */
export function chart(series, { label, x, y, mark = null, half = null, area = false, onPick = null }) {
  const [x0, x1] = [x[0], Math.max(x[1], x[0] + 1)];
  const [y0, y1] = [y[0], y[1] > y[0] ? y[1] : y[0] + 1];
  const [w, t] = [WIDTH - EDGE.left - EDGE.right, HEIGHT - EDGE.top - EDGE.bottom];
  const px = (value) => EDGE.left + (w * (value - x0)) / (x1 - x0);
  const py = (value) => EDGE.top + t * (1 - (value - y0) / (y1 - y0));
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": label });
  const text = (words, at, py_, anchor) =>
    s("text", { x: at, y: py_, "text-anchor": anchor, class: "tick" }, words);
  svg.append(
    s("rect", { x: EDGE.left, y: EDGE.top, width: w, height: t, class: "plot" }),
    text(label_of(y1), EDGE.left - 5, py(y1) + 8, "end"),
    text(label_of(y0), EDGE.left - 5, py(y0), "end"),
    text(label_of(x0), px(x0), HEIGHT - 4, "start"),
    text(label_of(x1), px(x1), HEIGHT - 4, "end"),
  );
  if (half !== null) svg.append(s("line", { x1: px(x0), x2: px(x1), y1: py(half), y2: py(half), class: "half" }));
  if (area && series[0].points.length > 1) svg.append(areaBelow(series[0].points, px, py, y0));
  for (const { points, kind } of series) svg.append(...drawn(points, kind, px, py));
  if (mark !== null) svg.append(s("line", { x1: px(mark), x2: px(mark), y1: EDGE.top, y2: EDGE.top + t, class: "now" }));
  if (onPick) svg.addEventListener("click", (event) => onPick(picked(svg, event, x0, x1, w)));
  return svg;
}

const label_of = (value) => (Math.abs(value) >= 1000 ? `${+(value / 1000).toPrecision(3)}k` : `${+value.toPrecision(3)}`);

function picked(svg, event, x0, x1, w) {
  const box = svg.getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * WIDTH - EDGE.left;
  return Math.round(x0 + Math.min(Math.max(at / w, 0), 1) * (x1 - x0));
}

const path = (points, px, py) =>
  points.map(([a, b], i) => `${i ? "L" : "M"}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join("");

function areaBelow(points, px, py, y0) {
  const d = `${path(points, px, py)}L${px(points.at(-1)[0])} ${py(y0)}L${px(points[0][0])} ${py(y0)}Z`;
  return s("path", { d, class: "area" });
}

function drawn(points, kind, px, py) {
  const dots = points.map(([a, b]) => s("circle", { cx: px(a), cy: py(b), r: 2.5, class: `dot ${kind}` }));
  if (kind === "dots" || points.length === 1) return dots;
  return [s("path", { d: path(points, px, py), class: `series ${kind}` })];
}

/** Return a figure with a title, a legend and a chart. */
export const figure = (title, legend, svg) =>
  h("figure", {}, h("figcaption", {}, h("b", {}, title), legend ? ` ${legend}` : ""), svg);
