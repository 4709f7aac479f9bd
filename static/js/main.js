// @ts-check
// Finds each `[data-…]` of the page and mounts its behaviour; the only script a page names.
import { mount as autosave, mountReload } from "./autosave.js";
import { mount as choose } from "./choose.js";
import { mount as commands } from "./commands.js";
import { mount as confirm } from "./confirm.js";
import { mount as copy, mountLink } from "./copy.js";
import { mount as fileDrop } from "./file_drop.js";
import { mount as filter, mountLinks as filteredLinks } from "./filters.js";
import { mount as jobProgress } from "./job_progress.js";
import { mount as meanings } from "./meanings.js";
import { mount as refresh } from "./refresh.js";
import { mount as reorder } from "./reorder.js";
import { mount as tableSort } from "./table_sort.js";
import { mount as tryRequest } from "./try_request.js";

/** @type {Record<string, (el: any) => void>} */
const BEHAVIOURS = {
  "form[data-autosave]": autosave,
  "form[data-autosubmit]": mountAutosubmit,
  "form[data-busy]": mountBusy,
  "form[data-choose]": choose,
  "button[data-commands]": commands,
  "form[data-confirm]": confirm,
  "button[data-copy], button[data-copy-from]": copy,
  "a[data-copy-link]": mountLink,
  "form[data-file-drop]": fileDrop,
  "form[data-filter]": filter,
  body: filteredLinks,
  "[data-job-progress]": jobProgress,
  "details[data-menu]": mountMenu,
  "[data-refresh]": refresh,
  "[data-autosave]": mountReload,
  "[data-reorder]": reorder,
  "table[data-sortable]": tableSort,
  "table:has(thead abbr[title])": meanings, // after the buttons that sort: their focus shows what a column means
  "[data-side-bar]": mountSideBar,
  "details[data-try-request]": tryRequest,
};

/** Mount every behaviour below `root`. @param {ParentNode} root */
function mountAll(root) {
  for (const [selector, mount] of Object.entries(BEHAVIOURS)) {
    for (const el of root.querySelectorAll(selector)) mount(el);
  }
}

mountAll(document);
// A behaviour that has put new content into the page (file_drop.js) asks for its mounting.
document.addEventListener("content-replaced", (event) => {
  if (event.target instanceof Element) mountAll(event.target);
});

// ---
// `<form method="get" data-autosubmit>`: a changed select sends the form; `[data-autosubmit-button]`, the way
// without script, is hidden. With the keyboard the change is sent on leaving the select or on Enter, because
// arrow keys change a closed select at every step.

/** @param {HTMLFormElement} el */
function mountAutosubmit(el) {
  let byKeys = false;
  for (const button of el.querySelectorAll("[data-autosubmit-button]")) button.setAttribute("hidden", "");
  el.addEventListener("pointerdown", () => (byKeys = false));
  el.addEventListener("keydown", (event) => {
    if (!(event.target instanceof HTMLSelectElement)) return;
    byKeys = event.key !== "Enter";
    if (!byKeys && el.dataset.changed) el.requestSubmit();
  });
  el.addEventListener("change", (event) => {
    if (!(event.target instanceof HTMLSelectElement)) return;
    el.dataset.changed = "true";
    if (!byKeys) el.requestSubmit();
  });
  el.addEventListener("focusout", (event) => {
    if (event.target instanceof HTMLSelectElement && el.dataset.changed) el.requestSubmit();
  });
  el.addEventListener("submit", () => delete el.dataset.changed);
}

// ---
// `<form data-busy="Waiting…">`: sent once; until the server answers, its button says so.

/** @param {HTMLFormElement} el */
function mountBusy(el) {
  const button = /** @type {HTMLButtonElement | null} */ (el.querySelector("button:not([type=button])"));
  const words = button?.textContent ?? "";

  /** @param {boolean} isBusy */
  const setBusy = (isBusy) => {
    if (isBusy) el.setAttribute("aria-busy", "true");
    else el.removeAttribute("aria-busy");
    if (!button) return;
    button.textContent = isBusy ? el.dataset.busy || words : words;
    button.classList.toggle("is-busy", isBusy);
  };

  el.addEventListener("submit", (event) => {
    if (el.hasAttribute("aria-busy")) event.preventDefault();
    setBusy(true);
  });
  // Gone back to, a page that the browser kept is not waiting any more.
  addEventListener("pageshow", () => setBusy(false));
}

// ---
// `<details data-menu>`: closes on Escape, on a click outside and when the focus leaves it.

/** @param {HTMLDetailsElement} el */
function mountMenu(el) {
  document.addEventListener("click", (event) => {
    if (el.open && event.target instanceof Node && !el.contains(event.target)) el.open = false;
  });
  el.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !el.open) return;
    el.open = false;
    el.querySelector("summary")?.focus();
  });
  el.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !el.contains(event.relatedTarget)) el.open = false;
  });
}

// ---
// `[data-side-bar]`: its button shows and hides the pages on a narrow screen; see navigation.css.

/** @param {HTMLElement} el */
function mountSideBar(el) {
  const button = el.querySelector("button");
  button?.addEventListener("click", () => {
    button.setAttribute("aria-expanded", String(el.classList.toggle("is-open")));
  });
}
