// @ts-check
// An answer with a `<ul data-ranking>` of `<li data-ranked="A">`, each with the `<select>` of a rank: rows stand in the order of their ranks, and
// a handle drags a row to another place or moves it with the arrow keys, which gives every row its rank. With
// `data-ranking="ties"` ranks may be shared; without, a rank that another row has is exchanged with it.

/** @param {HTMLElement} answer */
export function mount(answer) {
  const el = /** @type {HTMLElement} */ (answer.querySelector("[data-ranking]"));
  const mayTie = el.dataset.ranking === "ties";
  const rows = () => /** @type {HTMLElement[]} */ ([...el.querySelectorAll("[data-ranked]")]);
  /** @param {HTMLElement} row */
  const selectOf = (row) => /** @type {HTMLSelectElement} */ (row.querySelector("select"));
  /** @param {HTMLElement} row the rank, 0 for none */
  const rankOf = (row) => selectOf(row).selectedIndex;
  /** What each row's rank was before the change. @type {Map<HTMLElement, number>} */
  const before = new Map();
  const remember = () => rows().forEach((row) => before.set(row, rankOf(row)));
  const announce = () => selectOf(rows()[0]).dispatchEvent(new Event("input", { bubbles: true }));
  const status = document.createElement("p");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  el.after(status);

  /** Put the rows in the order of their ranks, once all have one. */
  const sort = () => {
    const all = rows();
    if (!all.every(rankOf)) return;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const sorted = [...all].sort((a, b) => rankOf(a) - rankOf(b));
    if (sorted.some((row, place) => row !== all[place])) el.append(...sorted);
    if (focused && el.contains(focused)) focused.focus({ preventScroll: true });
  };

  /** Give the rows the ranks of their places; those that shared one still do, but not with the one that moved.
   * @param {HTMLElement} moved */
  const rank = (moved) => {
    /** @type {HTMLElement | undefined} */
    let above;
    let place = 0;
    for (const row of rows()) {
      const isShared = above && row !== moved && above !== moved && before.get(row) && before.get(row) === before.get(above);
      if (!isShared) place += 1;
      selectOf(row).selectedIndex = place;
      above = row;
    }
    remember();
    status.textContent = `${moved.dataset.ranked}: rank ${rankOf(moved)}`;
    announce();
  };

  el.addEventListener("change", (event) => {
    const row = event.target instanceof Element && /** @type {HTMLElement | null} */ (event.target.closest("[data-ranked]"));
    if (!row) return;
    const other = mayTie ? undefined : rows().find((each) => each !== row && rankOf(each) && rankOf(each) === rankOf(row));
    if (other) selectOf(other).selectedIndex = before.get(row) ?? 0;
    remember();
    sort();
    if (other) announce();
  });
  answer.addEventListener("restored", () => {
    remember();
    sort();
  });

  /** @type {HTMLElement | null} */
  let dragged = null;
  for (const row of rows()) {
    const handle = document.createElement("button");
    handle.type = "button";
    handle.className = "ranked-handle";
    handle.setAttribute("aria-label", `Move ${row.dataset.ranked}: arrow up or down`);
    handle.textContent = "⠿"; // read by its label
    row.append(handle);

    handle.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || event.button !== 0) return;
      handle.setPointerCapture(event.pointerId);
      dragged = row;
      row.classList.add("is-dragged");
    });
    handle.addEventListener("pointermove", (event) => {
      if (dragged !== row) return;
      const over = rows().find((each) => {
        const { top, bottom } = each.getBoundingClientRect();
        return event.clientY >= top && event.clientY < bottom;
      });
      if (!over || over === row) return;
      const isBelow = Boolean(row.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING);
      isBelow ? over.after(row) : over.before(row);
      // Some browsers let go of a pointer whose element moves.
      if (!handle.hasPointerCapture(event.pointerId)) handle.setPointerCapture(event.pointerId);
    });
    const drop = () => {
      if (dragged !== row) return;
      dragged = null;
      row.classList.remove("is-dragged");
      rank(row);
    };
    handle.addEventListener("pointerup", drop);
    handle.addEventListener("pointercancel", drop);
    handle.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      if (event.key === "ArrowUp") row.previousElementSibling?.before(row);
      else row.nextElementSibling?.after(row);
      handle.focus({ preventScroll: true });
      rank(row);
    });
  }
  answer.querySelector("[data-ranking-hint]")?.removeAttribute("hidden");
  remember();
  sort();
}
