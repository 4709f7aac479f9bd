// @ts-check
// `<div data-answer data-most-changes="2000">`: a box with an output that is corrected, a hidden input for
// what happened in it, a tick for nothing to change, and a button that takes all changes back. What happened is
// {"ms": …, "keys": …, "changes": [[ms, start, deleted, inserted], …]}: time in the box without long pauses, and changes
// that lead from the output to the text, in characters (code points). campaigns/responses/edit.py reads it.

/** @typedef {import("./answers.js").Answer} Answer */
/** @typedef {[number, number, number, string]} Change */

const RECORD = "[record]";
const LONGEST_PAUSE_MS = 30_000;
/** Typing without a longer pause is one change. */
const ONE_CHANGE_MS = 1000;
const MOST_INSERTED = 100_000;
const MODIFIERS = ["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"];

/** Return how one text becomes another: the part that both do not share.
 * @param {string[]} from @param {string[]} to @returns {[number, number, string]} */
function compare(from, to) {
  let start = 0, end = 0;
  const most = Math.min(from.length, to.length);
  while (start < most && from[start] === to[start]) start += 1;
  while (end < most - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end += 1;
  return [start, from.length - start - end, to.slice(start, to.length - end).join("")];
}

/** @param {string} text @param {Change[]} changes @returns {string[]} */
function replay(text, changes) {
  const found = [...text];
  for (const [, start, deleted, inserted] of changes) found.splice(start, deleted, ...inserted);
  return found;
}

/** @param {HTMLElement} el @returns {Answer} */
export function mount(el) {
  const box = /** @type {HTMLTextAreaElement} */ (el.querySelector("textarea"));
  const record = /** @type {HTMLInputElement} */ (el.querySelector("[data-edit-record]"));
  const confirm = /** @type {HTMLInputElement} */ (el.querySelector("[data-edit-unchanged]"));
  const reset = /** @type {HTMLButtonElement} */ (el.querySelector("[data-edit-reset]"));
  const why = /** @type {HTMLElement} */ (el.querySelector("[data-answer-why]"));
  const output = box.defaultValue;
  const mostChanges = Number(el.dataset.mostChanges);
  /** @type {Change[]} */
  let changes = [];
  let text = [...output], before = text; // as recorded, and before the last change
  let ms = 0, keys = 0, changedAt = -ONE_CHANGE_MS;
  /** @type {number | null} */
  let activeAt = null;

  const isChanged = () => box.value !== output;
  const now = () => Math.round(ms + (activeAt === null ? 0 : Math.min(performance.now() - activeAt, LONGEST_PAUSE_MS)));
  /** @param {boolean} [isLeft] */
  const count = (isLeft = false) => {
    ms = now();
    activeAt = isLeft ? null : performance.now();
  };

  /** Add what changed since to the changes; typing goes on with the last one, and so does all that is too much. */
  const follow = () => {
    const to = [...box.value];
    const [start, deleted, inserted] = compare(text, to);
    if (!mostChanges || !(deleted || inserted)) return;
    const last = changes.at(-1);
    const isSoon = now() - changedAt < ONE_CHANGE_MS;
    const isTyping = last && isSoon && !deleted && start === last[1] + [...last[3]].length;
    const isDeleting = last && isSoon && !inserted && !last[3] && start + deleted === last[1];
    const n = changes.reduce((sum, each) => sum + each[3].length, 0);
    if (last && (isTyping || isDeleting || changes.length >= mostChanges || n > MOST_INSERTED)) {
      changes[changes.length - 1] = [last[0], ...compare(before, to)];
    } else {
      before = text;
      changes.push([now(), start, deleted, inserted]);
    }
    text = to;
    changedAt = now();
  };

  const show = () => {
    if (isChanged()) confirm.checked = false;
    confirm.disabled = isChanged();
    reset.hidden = !isChanged();
    el.classList.remove("is-missing");
    why.textContent = "";
  };

  /** @param {string} found what was recorded before */
  const load = (found) => {
    ({ ms, keys, changes } = found ? JSON.parse(found.replace(RECORD, "")) : { ms: 0, keys: 0, changes: [] });
    text = replay(output, changes);
    before = replay(output, changes.slice(0, -1));
    changedAt = -ONE_CHANGE_MS;
    follow();
    show();
  };
  load(record.value); // and what was typed before this script was there

  box.addEventListener("focus", () => (activeAt = performance.now()));
  box.addEventListener("blur", () => count(true));
  box.addEventListener("pointerdown", () => count());
  box.addEventListener("keydown", ({ key }) => {
    count();
    if (!MODIFIERS.includes(key)) keys += 1;
  });
  reset.addEventListener("click", () => {
    box.value = output;
    box.focus();
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  el.addEventListener("input", ({ target }) => {
    if (target === box) {
      count();
      follow();
    }
    show();
    el.dispatchEvent(new CustomEvent("answered", { bubbles: true }));
  });

  return {
    el,
    name: box.name,
    get isSet() {
      return confirm.checked || (isChanged() && box.value.trim() !== "");
    },
    get value() {
      record.value = RECORD + JSON.stringify({ ms: now(), keys, changes });
      return [box.value, record.value, ...(confirm.checked ? [confirm.value] : [])];
    },
    /** @param {string[]} values */
    set([value, found, confirmed]) {
      box.value = value ?? output;
      confirm.checked = confirmed === confirm.value;
      load(found);
    },
    /** Show this answer, and say that it is missing. */
    ask() {
      el.classList.add("is-missing");
      why.textContent = el.dataset.answer ?? "";
      const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      el.parentElement?.scrollIntoView({ block: "center", behavior: isCalm ? "auto" : "smooth" });
      box.focus({ preventScroll: true });
    },
  };
}
