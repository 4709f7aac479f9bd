// @ts-check
// `<form data-rating>`: its button works once every `[data-slider]` was moved and while there is a connection. Tells
// the server how long the item took, how often the sliders were moved, how often the page was left or pasted into.

/** @param {HTMLFormElement} el */
export function mount(el) {
  const shownAt = performance.now();
  /** @type {number | null} */
  let firstTouchAt = null;
  const counts = { n_moves: 0, n_focus_lost: 0, n_pastes: 0 };
  const sliders = [...el.querySelectorAll("[data-slider]")];
  const button = /** @type {HTMLButtonElement} */ (el.querySelector("[data-rating-next]"));
  const hint = el.querySelector("[data-rating-hint]");
  const offline = el.querySelector("[data-rating-offline]");

  const refresh = () => {
    const left = sliders.filter((slider) => !slider.classList.contains("is-set")).length;
    button.disabled = left > 0 || !navigator.onLine;
    hint?.toggleAttribute("hidden", left === 0);
    offline?.toggleAttribute("hidden", navigator.onLine);
  };

  el.addEventListener("slider-moved", () => {
    firstTouchAt ??= performance.now();
    counts.n_moves += 1;
    refresh();
  });
  // Browsers differ in what Enter in a slider does: here it is the button, which works once every slider was moved.
  el.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    if (!event.repeat) button.click();
  });
  addEventListener("blur", () => (counts.n_focus_lost += 1));
  document.addEventListener("paste", () => (counts.n_pastes += 1));
  addEventListener("online", refresh);
  addEventListener("offline", refresh);

  el.addEventListener("submit", () => {
    const now = performance.now();
    /** @type {Record<string, number | null>} */
    const told = { shown_ms: now - shownAt, first_touch_ms: firstTouchAt && firstTouchAt - shownAt, ...counts };
    for (const [name, value] of Object.entries(told)) {
      const field = el.elements.namedItem(name);
      if (field instanceof HTMLInputElement && value !== null) field.value = String(Math.round(value));
    }
  });

  // A form is answered with the next item's page, in one round trip: make a reload ask for it, not send the form again.
  // In a frame without an origin Firefox would send it all the same: there the server is asked for a redirect.
  let isReplaced = !(self.origin === "null" && CSS.supports("-moz-appearance", "none"));
  try {
    history.replaceState(null, "", location.href);
  } catch {
    isReplaced = false;
  }
  const redirect = el.elements.namedItem("redirect");
  if (redirect instanceof HTMLInputElement && !isReplaced) redirect.value = "1";

  // Where the sliders are below the fold and the texts above were read with the item before, begin at what is new.
  const fresh = el.querySelector("[data-rating-fresh]");
  const last = sliders.at(-1);
  if (fresh && last && last.getBoundingClientRect().bottom > innerHeight) fresh.scrollIntoView();
  refresh();
}
