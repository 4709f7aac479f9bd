// @ts-check
// `<details data-menu>`: closes on Escape, on a click elsewhere and when the focus leaves it.

/** @param {HTMLDetailsElement} el */
export function mount(el) {
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
