// Elements from values. No style attributes: the page's policy forbids them.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** Return an HTML element; `on...` attributes are listeners, null and false leave one out. */
export const h = (tag, attributes, ...children) =>
  filled(document.createElement(tag), attributes, children);

/** Return an SVG element. */
export const s = (tag, attributes, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    const isState = name.startsWith("aria-"); // "false" says something there
    if (value === null || value === undefined || (value === false && !isState)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (isState) element.setAttribute(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return a select of [value, text] pairs. */
export function choice(label, options, value, onChange) {
  const select = h("select", { "aria-label": label, onchange: () => onChange(select.value) });
  select.append(...options.map(([each, text]) => h("option", { value: each }, text)));
  select.value = value;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  return select;
}

/** Return a labelled row of a form. */
export const row = (text, ...controls) => h("div", { class: "row" }, h("span", {}, text), controls);
