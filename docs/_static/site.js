// The site's own behaviour: the live lesson on the start page, names found while typing, and pictures in full size.

const base = document.documentElement.dataset.content_root ?? "./";

/** Return the fragment that shows the lesson in the theme of the site; the default is the theme of the system. */
function theme() {
  const chosen = document.body.dataset.theme;
  return chosen === "auto" ? "" : `theme=${chosen}`;
}

for (const frame of document.querySelectorAll("iframe.lesson")) if (theme()) frame.src += `#${theme()}`;

// The start page: the film becomes the live lesson.

const stage = document.querySelector(".hero-stage");
stage?.querySelector("button").addEventListener("click", () => {
  const frame = document.createElement("iframe");
  frame.title = "The graph of d = (a + 1) * 3a, step by step";
  frame.src = `${base}pages/lesson.html#${["show=diamond", "embed=1", "present=1", theme()].filter(Boolean).join("&")}`;
  frame.addEventListener("load", () => frame.focus());
  stage.replaceChildren(frame);
});

// Names of the reference that match the text in a search box.

/** Return how well a name matches: 0 is the best match, and Infinity means none. */
function rank(name, wanted) {
  const lower = name.toLowerCase();
  const last = lower.slice(lower.lastIndexOf(".") + 1);
  const dots = lower.split(".").length;
  if (lower === wanted || last === wanted) return dots;
  if (last.startsWith(wanted) || lower.startsWith(wanted)) return 100 + 10 * dots + lower.length / 100;
  return (wanted.includes(".") ? lower : last).includes(wanted) ? 200 + 10 * dots + lower.length / 100 : Infinity;
}

function found(text) {
  const wanted = text.trim().toLowerCase().replace(/^gradwalk\./, "").replace(/\(.*$/, "");
  if (wanted.length < 2) return [];
  const ranked = (globalThis.gradwalkNames ?? []).map((entry) => [rank(entry[0], wanted), entry]);
  return ranked.filter(([place]) => place < Infinity).sort((a, b) => a[0] - b[0]).slice(0, 8).map(([, entry]) => entry);
}

function link([name, address, line]) {
  const [item, anchor, code, small] = ["li", "a", "code", "small"].map((tag) => document.createElement(tag));
  anchor.href = base + address;
  code.textContent = name;
  small.textContent = line;
  anchor.append(code, small);
  item.append(anchor);
  return item;
}

/** Show the matching names below a search box. */
function finder(input) {
  const list = document.createElement("ul");
  list.className = "finds";
  list.hidden = true;
  input.autocomplete = "off";
  input.form.append(list);
  let chosen = -1;
  const anchors = () => [...list.querySelectorAll("a")];
  const show = () => {
    list.replaceChildren(...found(input.value).map(link));
    list.hidden = !list.children.length;
    chosen = -1;
  };
  const choose = (next) => {
    const all = anchors();
    chosen = (next + all.length) % all.length;
    all.forEach((anchor, i) => anchor.setAttribute("aria-selected", String(i === chosen)));
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", () => load(show));
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !list.hidden) choose(chosen < 0 && step < 0 ? -1 : chosen + step);
    else if (event.key === "Enter" && chosen >= 0) location.href = anchors()[chosen].href;
    else if (event.key === "Escape") list.hidden = true;
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => (list.hidden ||= !input.form.contains(event.target)));
}

/** Load the names when they are first needed. */
function load(then) {
  if (globalThis.gradwalkNames) return then();
  const script = document.createElement("script");
  script.src = `${base}_static/names.js`;
  script.addEventListener("load", then);
  document.head.append(script);
}

document.querySelectorAll("form[role=search] input[name=q]").forEach(finder);

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea")) return;
  const box = [...document.querySelectorAll("form[role=search] input[name=q]")].find((input) => input.offsetParent);
  if (!box) return;
  box.focus();
  event.preventDefault();
});

// Tables of three or four columns, whose rows phones show as blocks.

for (const table of document.querySelectorAll("article table.docutils")) {
  const columns = [...table.querySelectorAll("thead th")].map((heading) => heading.textContent);
  if (columns.length < 3 || columns.length > 4 || table.closest(".names, .operation")) continue;
  table.classList.add("stacked");
  for (const row of table.tBodies[0].rows) {
    for (const cell of row.cells) if (cell.textContent.trim()) cell.dataset.column = columns[cell.cellIndex];
  }
}

// A picture that is wider than its column opens in full size.

for (const picture of document.querySelectorAll("article .drawn svg, article img")) {
  const width = () => (picture instanceof SVGElement ? picture.viewBox.baseVal.width : picture.naturalWidth);
  const shown = () => picture.getBoundingClientRect().width;
  const enlarge = () => {
    if (width() <= shown()) return;
    const dialog = document.createElement("dialog");
    const copy = picture.cloneNode(true);
    copy.classList.remove("enlarges");
    copy.style.width = `${width()}px`;
    dialog.className = "enlarged";
    dialog.append(copy);
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("keydown", (event) => event.stopPropagation()); // Sphinx would keep Escape for itself
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  const measure = () => {
    const isWide = shown() > 0 && width() > 1.02 * shown();
    picture.classList.toggle("enlarges", isWide);
    picture.parentElement.classList.toggle("with-enlarging", isWide);
  };
  picture.addEventListener("click", enlarge);
  picture.addEventListener("load", measure);
  new ResizeObserver(measure).observe(picture);
}
