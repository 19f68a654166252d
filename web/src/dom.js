// Elements, made without markup: text is always text.

/** @typedef {Node | string | null | undefined} Child */
/** @typedef {string | number | boolean | null | undefined | ((event: any) => void)} Property */

/**
 * An element with properties and children. Properties that begin with "on" listen to the event of that name; true and
 * false add or leave out an attribute.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Property>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else set(made, name, value);
  }
  made.append(...present(children));
  return made;
}

/**
 * Set an attribute, or take it away where the value is false or missing; only where that changes something.
 * @param {Element} target @param {string} name @param {string | number | boolean | null | undefined} value
 */
export function set(target, name, value) {
  if (value === false || value === null || value === undefined) target.removeAttribute(name);
  else if (target.getAttribute(name) !== String(value)) target.setAttribute(name, value === true ? "" : String(value));
}

/** Set the text, only where that changes something. @param {Element} target @param {string} text */
export function write(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Give an element other children. @param {Element} target @param {...Child} children */
export function fill(target, ...children) {
  target.replaceChildren(...present(children));
}

/** @param {readonly Child[]} children */
function present(children) {
  return children.filter((child) => child !== null && child !== undefined).filter((child) => child !== "");
}

/**
 * A sign, drawn in a square of 16 by 16: fonts lack many. What it means is said by what it stands on.
 * @param {string} shape as the d of an SVG path
 */
export function icon(shape) {
  const [drawing, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries({ viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" })) {
    drawing.setAttribute(name, value);
  }
  path.setAttribute("d", shape);
  drawing.append(path);
  return drawing;
}

/**
 * A button with a word or a sign on it, and a name where the sign alone says nothing.
 * @param {Child} face @param {() => void} onclick @param {Record<string, Property>} [properties]
 */
export function button(face, onclick, properties = {}) {
  return element("button", { type: "button", onclick, ...properties }, face);
}
