// @ts-check
// `<form method="get" data-autosubmit>`: a changed select sends the form; `[data-autosubmit-button]`, the way
// without script, is hidden. With the keyboard the change is sent on leaving the select or on Enter, because
// arrow keys change a closed select at every step.

/** @param {HTMLFormElement} el */
export function mount(el) {
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
