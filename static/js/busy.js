// @ts-check
// `<form data-busy="Waiting…">`: sent once; until the server answers, its button says so.

/** @param {HTMLFormElement} el */
export function mount(el) {
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
