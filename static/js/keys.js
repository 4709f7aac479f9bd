// @ts-check
// The keys of a page on which workers rate. Single keys work where no control takes them: never in a field, nor while a
// dialog is open; a worker can turn them off, as speech input may need (WCAG 2.1.4). Screen readers that read a page by
// single keys keep these to themselves. `?` opens the list of keys; below the first item a line names some.

import { make, openDialog } from "./elements.js";

/** @typedef {{ keys: string[], words: string, on: string, note?: string, act?: (key: string, form: HTMLFormElement) => void }} Row
 * What keys do, on pages that have what matches `on`; `note` says it in a word. Without `act` they are those of a control. */

const OFF = "evalsite-keys-off";
const TICK = "[data-answer]:not([data-spans]) input:is([type=radio], [type=checkbox])";
const SEVERAL = ".output ~ .output .statement, .statement ~ .statement, [role=radiogroup] ~ [role=radiogroup]";
const ROW = "[role=group] > [role=radiogroup]"; // one of several of a statement
const MISSING = "[data-tool=missing]", NONE = "[data-tool=none]", SELECTED = ".spans-panel:not([hidden])";

/** What matches marked errors with a setting, before spans.js has drawn it. @param {string} name */
const saying = (name) => `[data-spans*='"${name}":true'], [data-spans*='"${name}": true']`;

/** @type {Row[]} */
const TABLE = [
  { keys: ["0"], words: "There are no errors", on: saying("mustSayNone"), note: "no errors", act: (_, form) => near(form, NONE)?.click() },
  { keys: ["1", "…", "9"], words: "Choose a point, an option or an output", on: TICK, note: "choose", act: pick },
  { keys: ["1", "…", "9"], words: "Say how grave the selected error is", on: "[data-spans]", note: "how grave", act: pick },
  { keys: ["M"], words: "Something is missing", on: saying("hasMissing"), note: "missing", act: (_, form) => near(form, MISSING)?.click() },
  { keys: ["J", "K"], words: "Go to what comes next, to what comes before", on: SEVERAL, note: "go on, go back", act: step },
  { keys: ["X"], words: "I cannot judge this", on: "[data-abstain]", act: abstain },
  { keys: ["N"], words: "Next item, or to what is not answered yet", on: "form", note: "next item", act: (_, form) => near(form, "[data-rating-next]")?.click() },
  { keys: ["?"], words: "Show all keys", on: "form", note: "all keys" },
  { keys: ["Enter"], words: "In a slider or a point: next item", on: "[data-slider], [type=radio]" },
  { keys: ["←", "→", "Page ↑", "Page ↓", "Home", "End"], words: "In a slider: move it", on: "[data-slider]" },
  { keys: ["←", "→", "↑", "↓"], words: "In a text to mark: move by words; with Shift, select", on: "[data-spans]" },
  { keys: ["Enter", "Delete", "Esc"], words: "In a text to mark: mark, remove a mark, select nothing", on: "[data-spans]" },
  { keys: ["Ctrl+Z"], words: "In a text to mark: undo", on: "[data-spans]" },
  { keys: ["↑", "↓"], words: "At the handle of an output: move it", on: "[data-ranking]" },
];

/** Return the keys of a row. @param {Row} row @returns {(Node | string)[]} */
function keysOf({ keys }) {
  return keys.flatMap((key) => [key === "…" ? key : make("kbd", {}, key), " "]);
}

/** Return what shows the keys, and what names some below the first item, which its style hides where there are none.
 * @param {HTMLFormElement} form @param {{ read(key: string): any, write(key: string, value: any): void }} lasting */
export function mount(form, lasting) {
  let isOff = lasting.read(OFF) === true;
  const rows = () => TABLE.filter(({ on }) => form.matches(on) || form.querySelector(on));

  const show = () => {
    const list = rows().flatMap((row) => [make("dt", {}, ...keysOf(row)), make("dd", {}, row.words)]);
    const tick = make("input", { type: "checkbox" });
    tick.checked = !isOff;
    tick.addEventListener("change", () => lasting.write(OFF, (isOff = !tick.checked)));
    openDialog("Keys", make("dl", { class: "keys" }, ...list), make("label", {}, tick, "Use keys of one letter or digit"));
  };

  document.addEventListener("keydown", (event) => {
    const { altKey, ctrlKey, metaKey, isComposing, repeat, defaultPrevented } = event;
    if (isOff || altKey || ctrlKey || metaKey || isComposing || repeat || defaultPrevented || isTyping(event.target)) return;
    const key = nameOf(event);
    if (key !== "?" && event.getModifierState("AltGraph")) return; // it writes another letter
    if (key === "?") show();
    else {
      const isOf = (/** @type {Row} */ { keys }) => keys.includes(key.toUpperCase()) || (keys.includes("…") && /^\d$/.test(key));
      const row = rows().find((each) => each.act && isOf(each));
      if (!row?.act) return;
      row.act(key, form);
    }
    event.preventDefault();
  });
  return { show, note };

  function note() {
    if (document.querySelector("progress")?.value !== 0) return;
    const notes = rows().filter(({ note }) => note).map((row) => make("span", {}, ...keysOf(row), row.note ?? ""));
    form.querySelector(".actions")?.after(make("p", { class: "hint keys-note" }, ...notes));
  }
}

/** Return what a key is called, whatever the script of the keyboard. @param {KeyboardEvent} event */
function nameOf({ key, code }) {
  const [, place] = /^(?:Key|Digit|Numpad)([A-Z0-9])$/.exec(code) ?? [];
  return (key.length === 1 && key > "\x7f" && place ? place : key).toLowerCase();
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (document.querySelector("dialog[open]") || !(target instanceof HTMLElement)) return true;
  return target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=range])") || target.isContentEditable;
}

/** Return the first match that can be seen, in the segment with the focus if it has one. @param {HTMLFormElement} form
 * @param {string} selector */
function near(form, selector) {
  return shown(document.activeElement?.closest(".output"), selector) ?? shown(form, selector);
}

/** Return the first match in an element that can be seen. @param {ParentNode | null | undefined} el @param {string} selector */
function shown(el, selector) {
  return [...(el?.querySelectorAll(selector) ?? [])]
    .map((each) => /** @type {HTMLElement} */ (each))
    .find((each) => each.checkVisibility?.() ?? true);
}

/** Return what one goes through: segments where they are asked about, else statements, and the rows of one with several.
 * @param {HTMLFormElement} form */
function stops(form) {
  const isStop = (/** @type {Element} */ el) => {
    if (el.matches(".output")) return el.querySelector(".statement");
    if (el.closest(".output")) return false;
    return !el.matches(".statement") || el.querySelectorAll(ROW).length < 2;
  };
  const all = [...form.querySelectorAll(`.output, .statement:not([hidden]), ${ROW}`)];
  return all.map((each) => /** @type {HTMLElement} */ (each)).filter(isStop);
}

/** @param {string} key @param {HTMLFormElement} form */
function step(key, form) {
  const by = key === "j" ? 1 : -1, all = stops(form), here = all.findIndex((el) => el.contains(document.activeElement));
  const stop = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(here + by, 0), all.length - 1)];
  if (!stop) return;
  const first =
    stop.querySelector("[data-spans-text=target], input:checked") ??
    stop.querySelector("input:not([type=hidden]), select, textarea, button");
  // A field would take the keys that follow: one comes to it with Tab.
  const target = /** @type {HTMLElement} */ (first && !isTyping(first) ? first : stop);
  if (target === stop) stop.tabIndex = -1;
  target.focus({ preventScroll: true });
  stop.scrollIntoView({ block: "nearest" });
}

/** Choose by a digit: how grave the selected error is, or of the statement with the focus, else of the first that is not
 * answered. @param {string} digit @param {HTMLFormElement} form */
function pick(digit, form) {
  const active = document.activeElement;
  const panel = shown(active?.closest(".statement, .output") ?? form, SELECTED);
  if (panel) return /** @type {HTMLElement | undefined} */ (panel.querySelectorAll(".spans-severity")[Number(digit) - 1])?.click();
  const statement = active?.closest(".statement");
  const around = active?.closest("[role=radiogroup]") ?? statement ?? active?.closest(".output") ?? form;
  const isAsked = (/** @type {HTMLInputElement} */ each) => !each.disabled && !each.closest("[hidden]");
  const ticks = [...around.querySelectorAll(TICK)].map((each) => /** @type {HTMLInputElement} */ (each)).filter(isAsked);
  const groups = [...new Set(ticks.map((each) => each.name))].map((name) => ticks.filter((each) => each.name === name));
  const group = groups.find((each) => !each.some(({ checked }) => checked)) ?? (groups.length === 1 || statement ? groups[0] : null);
  if (!group) return;
  const numbers = group.map(({ labels }) => /^\s*\+?([-−–]?\d+)/.exec(labels?.[0]?.textContent ?? "")?.[1]);
  const isNumbered = numbers.every(Boolean) && new Set(numbers).size === group.length;
  const chosen = isNumbered ? group[numbers.indexOf(digit)] : group[Number(digit) - 1];
  chosen?.focus();
  chosen?.click();
}

/** @param {string} _ @param {HTMLFormElement} form */
function abstain(_, form) {
  const CONTROL = "[data-abstain] :is(input, select)", all = form.querySelectorAll(`.statement:not([hidden]) ${CONTROL}`);
  const statement = document.activeElement?.closest(".statement");
  const control = /** @type {HTMLElement | null} */ (statement ? statement.querySelector(CONTROL) : all.length === 1 ? all[0] : null);
  control?.focus();
  if (control instanceof HTMLInputElement) control.click();
}
