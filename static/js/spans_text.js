// @ts-check
// A text in which errors are marked. By mouse: select, or click the first and the last word. By touch: tap them. By keyboard:
// arrow keys move by words, Shift selects, Enter goes on, Delete removes what is marked here, Escape selects nothing.

/** @typedef {import("./spans.js").Span} Span */
/** @typedef {import("./spans.js").Selected} Selected */
/** @typedef {{ start: number, end: number }} Stretch */
/** @typedef {{ select(side: string, start: number, end: number): void, choose(): void, openAt(side: string, place: number): boolean,
 *   removeAt(side: string, place: number): void, undo(): void, cancel(): void, say(text: string): void }} Actions */

const WORDS_OF_A_LINE = 10;

/** @param {HTMLElement} el @param {string} side @param {string} text @param {string} help id @param {Actions} actions */
export function mountText(el, side, text, help, actions) {
  const points = [...text]; // code points
  const words = divide(text, "word").filter(({ start, end }) => points.slice(start, end).join("").trim());
  /** @type {Set<number> | null} */
  let edges = null; // of what readers see as one character
  /** @type {Selected | null} */
  let selected = null;
  /** @type {Span[]} */
  let spans = [];
  let cursor = 0, anchor = 0; // places in `words`

  el.dataset.spansText = side;
  el.tabIndex = 0;
  el.setAttribute("role", "application");
  el.setAttribute("aria-roledescription", "text to mark");
  const heading = el.closest("[aria-labelledby]")?.getAttribute("aria-labelledby");
  if (heading) el.setAttribute("aria-labelledby", heading);
  el.setAttribute("aria-describedby", help);

  const textOf = (/** @type {number} */ start, /** @type {number} */ end) => points.slice(start, end).join("");

  /** Draw the text in pieces, each within or without every mark. @param {Span[]} marked @param {Selected | null} chosen
   * @param {(severity: string) => string} grade */
  function draw(marked, chosen, grade) {
    spans = marked.filter((span) => span.side === side);
    selected = chosen?.side === side && chosen.index === undefined ? chosen : null;
    const at = new Set([0, points.length]);
    for (const { start, end } of [...words, ...spans, ...(selected ? [selected] : [])]) at.add(Number(start)).add(Number(end));
    const cuts = [...at].sort((a, b) => a - b);
    el.replaceChildren(...cuts.slice(0, -1).map((start, k) => drawPiece(start, cuts[k + 1], grade)));
    showCursor();
  }

  /** @param {number} start @param {number} end @param {(severity: string) => string} grade */
  function drawPiece(start, end, grade) {
    const piece = document.createElement("span");
    piece.dataset.start = String(start);
    piece.textContent = textOf(start, end);
    const over = spans.filter((span) => Number(span.start) <= start && end <= Number(span.end));
    for (const span of over) piece.classList.add("is-marked", grade(span.severity));
    if (over.length > 1) piece.classList.add("is-twice");
    if (selected && Number(selected.start) <= start && end <= Number(selected.end)) piece.classList.add("is-selected");
    return piece;
  }

  function showCursor() {
    for (const piece of el.querySelectorAll(".is-here")) piece.classList.remove("is-here");
    const { start, end } = words[cursor] ?? { start: 0, end: 0 };
    for (const piece of /** @type {NodeListOf<HTMLElement>} */ (el.querySelectorAll("[data-start]"))) {
      const place = Number(piece.dataset.start);
      if (start <= place && place < end) piece.classList.add("is-here");
    }
  }

  // --- Pointer

  /** Return the character that a place in the page is before. @param {Node} node @param {number} offset */
  function placeOf(node, offset) {
    if (node === el) return Number(/** @type {HTMLElement | undefined} */ (el.children[offset])?.dataset.start ?? points.length);
    const piece = /** @type {HTMLElement} */ ((node instanceof HTMLElement ? node : node.parentElement)?.closest("[data-start]"));
    const within = node instanceof Text ? [...node.data.slice(0, offset)].length : offset ? [...(piece.textContent ?? "")].length : 0;
    return Number(piece.dataset.start) + within;
  }

  /** Return what the browser has selected of this text, without white space at its ends and with whole characters. */
  function findSelection() {
    const range = getSelection()?.rangeCount ? getSelection()?.getRangeAt(0) : null;
    if (!range || range.collapsed || !range.intersectsNode(el)) return null;
    let start = el.contains(range.startContainer) ? placeOf(range.startContainer, range.startOffset) : 0;
    let end = el.contains(range.endContainer) ? placeOf(range.endContainer, range.endOffset) : points.length;
    edges ??= new Set(divide(text, "grapheme").map((each) => each.start).concat(points.length));
    while (start > 0 && !edges.has(start)) start -= 1;
    while (end < points.length && !edges.has(end)) end += 1;
    while (start < end && !points[start].trim()) start += 1;
    while (start < end && !points[end - 1].trim()) end -= 1;
    return start < end ? { start, end } : null;
  }

  // Where the button goes up outside of the text, what is selected of it counts, too.
  el.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    addEventListener("pointerup", () => setTimeout(takeSelection), { once: true });
  });

  function takeSelection() {
    const found = findSelection();
    if (!found) return;
    getSelection()?.removeAllRanges();
    cursor = anchor = wordAt(found.start);
    actions.select(side, found.start, found.end);
  }

  el.addEventListener("click", (event) => {
    if (findSelection()) return;
    const piece = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-start]"));
    if (!piece) return;
    const place = Number(piece.dataset.start);
    if (!selected && actions.openAt(side, place)) return;
    const tapped = wordAt(place), isAgain = selected && tapped === anchor && anchor === cursor;
    if (isAgain) return actions.cancel();
    cursor = tapped;
    if (!selected) anchor = cursor;
    selectWords();
  });

  /** Return the word at a character, or the nearest before it. @param {number} place */
  function wordAt(place) {
    return Math.max(words.findLastIndex(({ start }) => start <= place), 0);
  }

  function selectWords() {
    const first = words[Math.min(anchor, cursor)], last = words[Math.max(anchor, cursor)];
    if (first) actions.select(side, first.start, last.end);
  }

  // --- Keyboard

  /** @type {Record<string, (at: number) => number>} */
  const moves = {
    ArrowRight: (at) => at + 1,
    ArrowLeft: (at) => at - 1,
    ArrowDown: (at) => at + WORDS_OF_A_LINE,
    ArrowUp: (at) => at - WORDS_OF_A_LINE,
    Home: () => 0,
    End: () => words.length - 1,
  };

  /** @param {KeyboardEvent} event */
  function move(event) {
    cursor = Math.min(Math.max(moves[event.key](cursor), 0), words.length - 1);
    if (event.shiftKey) return selectWords();
    anchor = cursor;
    if (selected) actions.cancel();
    showCursor();
    const { start, end } = words[cursor] ?? { start: 0, end: 0 };
    const here = spans.find((span) => Number(span.start) <= start && start < Number(span.end));
    actions.say(`${textOf(start, end)}${here ? `, marked as ${here.severity}` : ""}`);
    el.querySelector(".is-here")?.scrollIntoView({ block: "nearest" });
  }

  function enter() {
    const place = words[cursor]?.start ?? 0;
    if (selected) return actions.choose();
    if (actions.openAt(side, place)) return;
    anchor = cursor;
    selectWords();
    actions.choose();
  }

  el.addEventListener("keydown", (event) => {
    if (event.altKey) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key.toLowerCase() === "z" && !event.shiftKey) actions.undo();
    else if (isCommand) return;
    else if (event.key in moves) move(event);
    else if (event.key === "Enter" || event.key === " ") enter();
    else if (event.key === "Escape" && selected) actions.cancel();
    else if (event.key === "Delete" || event.key === "Backspace") actions.removeAt(side, words[cursor]?.start ?? 0);
    else return;
    event.preventDefault();
  });

  return {
    side,
    el,
    draw,
    words: textOf,
    /** Keep what is selected in view where the panel covers the end of the window. @param {HTMLElement} panel */
    reveal(panel) {
      const last = [...el.querySelectorAll(".is-selected")].at(-1);
      if (!last || getComputedStyle(panel).position !== "fixed") return;
      const hidden = last.getBoundingClientRect().bottom - panel.getBoundingClientRect().top;
      if (hidden > 0) scrollBy(0, hidden + 8);
    },
  };
}

/** Return the words of a text, or what readers see as one character, by code points. Browsers without `Intl.Segmenter` divide
 * at spaces, or not at all. @param {string} text @param {"word" | "grapheme"} granularity @returns {Stretch[]} */
function divide(text, granularity) {
  const parts =
    "Segmenter" in Intl
      ? Array.from(new Intl.Segmenter(undefined, { granularity }).segment(text), ({ segment }) => segment)
      : granularity === "word" ? text.split(/(\s+)/) : [...text];
  let end = 0;
  return parts.map((part) => ({ start: end, end: (end += [...part].length) }));
}
