// @ts-check
// `<div data-spans="{…}">` around a hidden input: errors are marked in the texts of the page (`[data-text]`, spans_text.js).
// The input holds them as JSON; places count characters (code points), as the server does, not UTF-16 units.

import { make } from "./elements.js";
import { mountText } from "./spans_text.js";

/** @typedef {{ side: string, start: number | null, end: number | null, severity: string, category: string, comment: string }} Span */
/** @typedef {{ texts: Record<string, string>, fields: Record<string, string>, severities: string[], categories: string[],
 *   most: number | null, hasMissing: boolean, hasComments: boolean, mayOverlap: boolean, mustSayNone: boolean,
 *   longestComment: number, given: Span[] }} Page */
/** What is selected; `index` is that of the marked error that is changed.
 * @typedef {{ side: string, start: number | null, end: number | null, index?: number }} Selected */

const MISSING = "missing", QUOTED = 60;
const HELP = "Select an error, or tap its first and its last word.", KEYS = " Keys: arrows move, Shift selects, Enter marks.";
let nMounted = 0;

/** @param {HTMLElement} el */
export function mount(el) {
  const page = /** @type {Page} */ (JSON.parse(el.dataset.spans ?? "{}"));
  const input = /** @type {HTMLInputElement} */ (el.querySelector("input[name]"));
  const id = `spans-${(nMounted += 1)}`;
  /** @type {Span[]} */
  let spans = [];
  let isSaid = false; // whether what is marked is the answer
  /** @type {{ spans: Span[], isSaid: boolean }[]} */
  let before = [];
  /** @type {Selected | null} */
  let selected = null;

  const status = make("p", { class: "visually-hidden", role: "status" });
  const panel = make("div", { class: "spans-panel", role: "group", "aria-label": "What is selected" });
  const list = make("ol", { class: "spans-list", "aria-label": "Marked errors" });
  const tools = make("div", { class: "spans-tools" });
  const isFirst = el === document.querySelector(".statement[data-answer-script*=spans] [data-answer]"); // the others need not say it again
  const help = make("p", { class: isFirst ? "hint spans-help" : "visually-hidden", id }, HELP, make("span", { class: "spans-keys" }, KEYS));
  el.prepend(help, panel, list, tools, status);

  const say = (/** @type {string} */ text) => void (status.textContent = text);
  const texts = Object.entries(page.texts).map(([side, text]) => {
    const shown = findText(el, page.fields[side]) ?? el.insertAdjacentElement("afterbegin", make("p", { class: "real-text", dir: "auto" }));
    return mountText(/** @type {HTMLElement} */ (shown), side, text, id, { select, choose, openAt, removeAt, undo, cancel, say });
  });
  const textOf = (/** @type {string} */ side) => texts.find((each) => each.side === side) ?? texts[0];

  // --- What is marked

  /** Take over what the input holds. */
  function restore() {
    isSaid = input.value !== "";
    spans = isSaid ? JSON.parse(input.value) : page.given.slice();
    before = [];
    cancel();
  }

  /** @param {Span[]} changed @param {boolean} said @param {string} words */
  function change(changed, said, words) {
    before.push({ spans, isSaid });
    keep(changed, said, words);
  }

  /** @param {Span[]} changed @param {boolean} said @param {string} words */
  function keep(changed, said, words) {
    [spans, isSaid, selected] = [changed.sort(inText), said, null];
    input.value = said ? JSON.stringify(spans) : "";
    draw();
    say(words);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function undo() {
    const last = before.pop();
    if (last) keep(last.spans, last.isSaid, `Undone. ${marked(last.spans.length)}`);
    else say("There is nothing to undo.");
  }

  /** @param {number} index */
  function remove(index) {
    const left = spans.filter((_, place) => place !== index);
    change(left, left.length > 0 || !page.mustSayNone, `Removed. ${marked(left.length)}`);
  }

  /** @param {string} severity */
  function mark(severity) {
    if (!selected) return;
    const { index, side, start, end } = selected;
    const category = panel.querySelector("select");
    if (category && !category.value) {
      panel.querySelector("[role=alert]")?.replaceChildren("Choose a category first.");
      return category.focus();
    }
    const comment = panel.querySelector("input")?.value.trim() ?? "";
    const span = { side, start, end, severity, category: category?.value ?? "", comment };
    const changed = [...spans.filter((_, place) => place !== index), span];
    change(changed, true, `Marked as ${severity}: ${quote(span)}. ${marked(changed.length)}`);
    textOf(side).el.focus({ preventScroll: true });
  }

  /** Return the words of an error, or of what is selected. @param {Span | Selected} span */
  function quote({ side, start, end }) {
    const words = side === MISSING ? "[missing]" : textOf(side).words(start ?? 0, end ?? 0);
    return words.length > QUOTED ? `${words.slice(0, QUOTED)}…` : words;
  }

  // --- What is selected

  /** @param {string} side @param {number | null} start @param {number | null} end */
  function select(side, start, end) {
    selected = { side, start, end };
    draw();
    if (side !== MISSING) textOf(side).reveal(panel);
    say(`Selected: ${quote(selected)}.${refusal() ? "" : " Enter goes on."}`);
  }

  function cancel() {
    selected = null;
    draw();
  }

  /** Go on with what is selected: to the first control of the panel. */
  function choose() {
    /** @type {HTMLElement | null} */ (panel.querySelector("select, button"))?.focus();
  }

  /** @param {number} index */
  function open(index) {
    selected = { ...spans[index], index };
    draw();
    choose();
  }

  /** Return the number of the error that is marked at a character, −1 if none is. @param {string} side @param {number} place */
  function indexAt(side, place) {
    return spans.findIndex((span) => span.side === side && Number(span.start) <= place && place < Number(span.end));
  }

  /** @param {string} side @param {number} place @returns {boolean} whether an error is marked there */
  function openAt(side, place) {
    const index = indexAt(side, place);
    if (index >= 0) open(index);
    return index >= 0;
  }

  /** @param {string} side @param {number} place */
  function removeAt(side, place) {
    const index = indexAt(side, place);
    if (index >= 0) remove(index);
  }

  /** Return why what is selected cannot be marked, "" if it can. */
  function refusal() {
    if (!selected || selected.index !== undefined) return "";
    const { side, start, end } = selected;
    if (page.most !== null && spans.length >= page.most) {
      return `At most ${errors(page.most)} can be marked. Remove one to mark another.`;
    }
    const meets = (/** @type {Span} */ span) => span.side === side && Number(span.start) < Number(end) && Number(start) < Number(span.end);
    const isRefused = side !== MISSING && !page.mayOverlap && spans.some(meets);
    return isRefused ? "This overlaps with a marked error. Change or remove that one, or select other words." : "";
  }

  // --- What is drawn

  function draw() {
    for (const text of texts) text.draw(spans, selected, (severity) => grade(severity, page.severities));
    drawPanel();
    list.replaceChildren(...spans.map(drawSpan));
    list.hidden = !spans.length;
    drawTools();
  }

  /** @param {Span} span @param {number} index */
  function drawSpan(span, index) {
    const about = [span.severity, span.category, span.side === "source" ? "in the source" : ""].filter(Boolean).join(" · ");
    const words = quote(span);
    return make(
      "li",
      {},
      make("div", { class: "spans-row" },
        make("span", {},
          make("q", { dir: "auto" }, words),
          " ",
          make("span", { class: `spans-kind ${grade(span.severity, page.severities)}` }, about),
          ...(span.comment ? [make("span", { class: "hint spans-comment", dir: "auto" }, span.comment)] : [])),
        make("span", { class: "spans-buttons" },
          button("Change", () => open(index), { "aria-label": `Change: ${words}` }),
          button("Remove", () => removeFrom(index), { "aria-label": `Remove: ${words}` }))));
  }

  /** Remove an error of the list, and stay in it. @param {number} index */
  function removeFrom(index) {
    remove(index);
    const next = list.children[Math.min(index, spans.length - 1)] ?? tools;
    /** @type {HTMLElement | null} */ (next.querySelector("button:last-child, input"))?.focus();
  }

  function drawTools() {
    const held = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.tool;
    const isGiven = page.given.length > 0 && !before.length;
    tools.replaceChildren();
    if (page.mustSayNone && (!spans.length || isGiven)) {
      const tick = make("input", { type: "checkbox", autocomplete: "off", "data-answer-focus": "", "data-tool": "none" });
      tick.checked = isSaid;
      tick.addEventListener("change", () => keep(spans, tick.checked, ""));
      tools.append(make("label", { class: "option spans-none" }, tick, spans.length ? "These are all errors" : "There are no errors"));
    }
    const missing = () => {
      select(MISSING, null, null);
      choose();
    };
    if (page.hasMissing) tools.append(button("Something is missing", missing, { "data-tool": "missing" }));
    const back = button("Undo", undo, { "data-tool": "undo" });
    back.disabled = !before.length;
    tools.append(back);
    if (held) /** @type {HTMLElement | null} */ (tools.querySelector(`[data-tool="${held}"]`))?.focus();
  }

  function drawPanel() {
    panel.hidden = !selected;
    panel.replaceChildren();
    if (!selected) return;
    const { index, side } = selected, of = index === undefined ? null : spans[index], why = refusal();
    panel.append(make("p", { class: "spans-quote" }, make("q", { dir: "auto" }, quote(selected))));
    if (!why && page.categories.length) panel.append(drawCategories(of?.category ?? ""));
    if (!why && page.hasComments) {
      const comment = make("input", { type: "text", maxlength: page.longestComment, value: of?.comment ?? "", autocomplete: "off" });
      panel.append(make("label", { class: "spans-field" }, "Comment (optional)", comment));
    }
    panel.append(make("p", { class: "slider-why", role: "alert" }, why));
    const buttons = make("div", { class: "spans-buttons", role: "group", "aria-label": "Severity" });
    for (const severity of why ? [] : page.severities) {
      const pressed = of ? { "aria-pressed": String(of.severity === severity) } : {};
      const pick = button(severity, () => mark(severity), pressed);
      pick.classList.add("spans-severity", grade(severity, page.severities));
      buttons.append(pick);
    }
    const leave = (/** @type {() => void} */ act) => () => {
      act();
      textOf(side).el.focus({ preventScroll: true });
    };
    if (index !== undefined) buttons.append(button("Remove", leave(() => remove(index))));
    buttons.append(button("Cancel", leave(cancel)));
    panel.append(buttons);
  }

  /** @param {string} chosen */
  function drawCategories(chosen) {
    const select = make("select", { autocomplete: "off" }, new Option("Choose a category", ""));
    /** @type {Record<string, HTMLElement>} */
    const groups = {};
    for (const category of page.categories) {
      const [group, ...rest] = category.split("/");
      const option = new Option(rest.join("/") || group, category);
      if (rest.length) select.append((groups[group] ??= make("optgroup", { label: group })));
      (rest.length ? groups[group] : select).append(option);
    }
    select.value = chosen;
    return make("label", { class: "spans-field" }, "Category", select);
  }

  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const { side } = selected ?? { side: "target" };
      cancel();
      textOf(side).el.focus({ preventScroll: true });
    }
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    event.stopPropagation(); // else it is the button of the page
    /** @type {HTMLElement | null} */ (panel.querySelector(".spans-severity"))?.focus();
  });
  el.addEventListener("restored", restore);
  restore();
}

/** Return where the page shows a text, unless another answer marks it already. @param {HTMLElement} el @param {string} name */
function findText(el, name) {
  const free = `[data-text="${CSS.escape(name)}"]:not([data-spans-text])`;
  return el.closest(".output")?.querySelector(free) ?? el.closest("form")?.querySelector(`:not(.output) > .text > ${free}`);
}

/** @param {Span} one @param {Span} other */
function inText(one, other) {
  const sides = ["target", "source", MISSING];
  return sides.indexOf(one.side) - sides.indexOf(other.side) || Number(one.start) - Number(other.start);
}

/** Return the class of a severity, by its place from the least to the gravest. @param {string} severity @param {string[]} all */
function grade(severity, all) {
  const place = all.indexOf(severity);
  if (place === all.length - 1) return "is-grave";
  return place === 0 && all.length > 2 ? "is-slight" : "is-mild";
}

/** @param {number} n */
const errors = (n) => (n === 1 ? "1 error" : `${n} errors`);
/** @param {number} n */
const marked = (n) => `${errors(n)} marked.`;

/** @param {string} text @param {() => void} act @param {Record<string, string>} [attributes] */
function button(text, act, attributes = {}) {
  const made = make("button", { type: "button", class: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}
