// @ts-check
// `<table>` with `<abbr title="…">` in its headings: what a number means shows beside its cell on hover and tap, and
// beside the heading on focus. One tab stop a heading, none a cell; Escape closes.

const DELAY = 350;
const GAP = 6;

/** @type {HTMLElement | null} */
let tip = null;
/** @type {Element | null} */
let shownAt = null;
let waiting = 0;
let nextId = 0;

/** @returns {HTMLElement} */
function makeTip() {
  const made = document.createElement("div");
  made.className = "meaning-tip";
  made.setAttribute("role", "tooltip");
  made.hidden = true;
  made.addEventListener("mouseenter", () => clearTimeout(waiting));
  made.addEventListener("mouseleave", hideSoon);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  document.addEventListener("pointerdown", (event) => {
    if (event.target instanceof Node && !made.contains(event.target) && !shownAt?.contains(event.target)) hide();
  });
  addEventListener("scroll", hide, { capture: true, passive: true });
  (document.querySelector("main") ?? document.body).append(made);
  return made;
}

/** @param {Element} cell @param {string} text */
function show(cell, text) {
  tip ??= makeTip();
  clearTimeout(waiting);
  shownAt = cell;
  tip.textContent = text;
  tip.hidden = false;
  const box = cell.getBoundingClientRect();
  const left = Math.min(Math.max(box.left, GAP), document.documentElement.clientWidth - tip.offsetWidth - GAP);
  const below = box.bottom + GAP;
  const fits = below + tip.offsetHeight <= innerHeight;
  tip.style.left = `${Math.max(left, GAP)}px`;
  tip.style.top = `${fits ? below : Math.max(box.top - GAP - tip.offsetHeight, GAP)}px`;
}

function hide() {
  clearTimeout(waiting);
  shownAt = null;
  if (tip) tip.hidden = true;
}

function hideSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(hide, DELAY / 2);
}

/** @param {HTMLTableElement} el */
export function mount(el) {
  const heads = [...(el.tHead?.rows[el.tHead.rows.length - 1]?.cells ?? [])];
  const said = document.createElement("div");
  said.hidden = true;
  el.after(said);
  const texts = heads.map((head) => explain(head, said));
  for (const row of el.tBodies[0]?.rows ?? []) {
    if (row.cells.length !== heads.length) continue;
    for (const cell of row.cells) cell.classList.toggle("has-meaning", texts[cell.cellIndex] !== "");
  }

  /** @param {Event} event @returns {[HTMLTableCellElement, string] | []} */
  const found = (event) => {
    const cell = event.target instanceof Element ? event.target.closest("td, th") : null;
    if (!(cell instanceof HTMLTableCellElement) || !el.contains(cell)) return [];
    const text = cell.matches("thead *, .has-meaning") ? texts[cell.cellIndex] : "";
    return text ? [cell, text] : [];
  };

  el.addEventListener("mouseover", (event) => {
    const [cell, text] = found(event);
    if (cell && cell === shownAt) return clearTimeout(waiting);
    hideSoon();
    if (!cell) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => show(cell, text), DELAY);
  });
  el.addEventListener("mouseleave", hideSoon);
  el.addEventListener("click", (event) => {
    const [cell, text] = found(event);
    if (cell) show(cell, text);
  });
  el.addEventListener("focusin", (event) => {
    const [cell, text] = found(event);
    const isByKey = event.target instanceof Element && event.target.matches(":focus-visible");
    if (cell?.matches("thead *") && isByKey) show(cell, text);
  });
  el.addEventListener("focusout", hide);
}

/**
 * Return what a heading means, which assistive technology reads with it from `said`; "" if it has no word.
 * @param {HTMLTableCellElement} head @param {HTMLElement} said
 * @returns {string}
 */
function explain(head, said) {
  const word = head.querySelector("abbr[title]");
  if (!(word instanceof HTMLElement)) return "";
  const text = word.title;
  const line = document.createElement("p");
  line.id = `meaning-${nextId++}`;
  line.textContent = text;
  said.append(line);
  word.removeAttribute("title"); // the browser would show it, too
  word.classList.add("has-meaning");
  const focused = head.querySelector("button") ?? word;
  focused.setAttribute("aria-describedby", line.id);
  if (focused === word) word.tabIndex = 0;
  return text;
}
