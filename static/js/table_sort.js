// @ts-check
// `<table data-sortable>`: sorts the rows of a small table by the heading that is pressed: up, down, and back to the
// server's order. A cell's value is its `data-sort-value`, else its text; numbers before words, empty cells last.
// A heading with `data-no-sort` stays as it is. While another order shows, the table has the class `is-resorted`.

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/**
 * @param {HTMLTableRowElement} row @param {number} column
 * @returns {number | string | null} null for an empty cell
 */
function valueOf(row, column) {
  const cell = row.cells[column];
  const text = (cell?.dataset.sortValue ?? cell?.textContent ?? "").trim();
  if (text === "" || text === "–" || text === "—") return null;
  const number = Number(text.replace("−", "-").replace(/[\s,](?=\d{3})/g, "").replace(/%$/, ""));
  return Number.isNaN(number) ? text : number;
}

/**
 * @param {number | string | null} a @param {number | string | null} b @param {number} sign
 */
function compare(a, b, sign) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return sign * collator.compare(String(a), String(b));
}

/** @param {HTMLTableElement} el */
export function mount(el) {
  const body = el.tBodies[0];
  const heads = [...(el.tHead?.rows[el.tHead.rows.length - 1]?.cells ?? [])];
  if (!body) return;
  const original = [...body.rows];

  heads.forEach((head, column) => {
    if ("noSort" in head.dataset || !head.textContent?.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort-button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "" }[head.getAttribute("aria-sort") ?? ""] ?? "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      const sign = next === "descending" ? -1 : 1;
      const keyed = original.map((row) => ({ row, value: valueOf(row, column) }));
      if (next) keyed.sort((a, b) => compare(a.value, b.value, sign));
      body.append(...keyed.map(({ row }) => row));
      el.classList.toggle("is-resorted", next !== "");
    });
  });
}
