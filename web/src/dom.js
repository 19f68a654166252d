// Creates elements without parsing markup, so text is always plain text.

/** @typedef {Node | string | null | undefined} Child */
/** @typedef {string | number | boolean | null | undefined | ((event: any) => void)} Property */

/**
 * Create an element with properties and children. Properties that begin with "on" are event listeners; true and false
 * add or remove an attribute.
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
 * Set an attribute, or remove it if the value is false, null or undefined. Does nothing if it is already so.
 * @param {Element} target @param {string} name @param {string | number | boolean | null | undefined} value
 */
export function set(target, name, value) {
  if (value === false || value === null || value === undefined) target.removeAttribute(name);
  else if (target.getAttribute(name) !== String(value)) target.setAttribute(name, value === true ? "" : String(value));
}

/** Set the text unless it is already the same. @param {Element} target @param {string} text */
export function write(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Replace the children of an element. @param {Element} target @param {...Child} children */
export function fill(target, ...children) {
  target.replaceChildren(...present(children));
}

/** @param {readonly Child[]} children */
function present(children) {
  return children.filter((child) => child !== null && child !== undefined).filter((child) => child !== "");
}

/**
 * Draw an icon of 16 by 16 pixels; fonts lack many symbols. Screen readers use the name of the parent element.
 * @param {string} shape d attribute of an SVG path
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
 * Create a button with a word or an icon; a button with only an icon needs an accessible name.
 * @param {Child} face @param {() => void} onclick @param {Record<string, Property>} [properties]
 */
export function button(face, onclick, properties = {}) {
  return element("button", { type: "button", onclick, ...properties }, face);
}

/** Create a region that scrolls, also with the keyboard. @param {string} title @param {Child} content */
export function scroller(title, content) {
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, content);
}

/** Create a table that scrolls. @param {string} title @param {readonly Child[]} columns headings @param {Child} body */
export function table(title, columns, body) {
  const headings = columns.map((heading) => element("th", { scope: "col" }, heading));
  return scroller(title, element("table", {}, element("thead", {}, element("tr", {}, ...headings)), body));
}

/** Create a menu. @param {readonly (readonly [value: string, title: string])[]} options @param {Record<string, Property>} properties */
export function select(options, properties) {
  return element("select", properties, ...options.map(([value, title]) => element("option", { value }, title)));
}

/**
 * Create a choice of radio buttons.
 * @param {string} title @param {string} name @param {readonly (readonly Child[])[]} faces of the choices @param {(i: number) => void} onchoice
 */
export function radios(title, name, faces, onchoice) {
  const inputs = faces.map((_, i) => element("input", { type: "radio", name, onchange: () => onchoice(i) }));
  const labels = faces.map((face, i) => element("label", {}, inputs[i], " ", ...face));
  return { inputs, element: element("fieldset", { class: "switch" }, element("legend", {}, title), ...labels) };
}
