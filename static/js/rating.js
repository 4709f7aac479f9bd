// @ts-check
// `<form data-rating>`: its button works once every `[data-slider]` was moved and while there is a connection. Reports
// to the server how long the item took, how often the sliders were moved, how often the page was left or pasted into.

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
    const counted = { shown_ms: now - shownAt, first_touch_ms: firstTouchAt && firstTouchAt - shownAt, ...counts };
    for (const [name, value] of Object.entries(counted)) {
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

// ---
// `<div data-slider data-left="…" data-right="…"><input type="range" data-name="…" min="0" max="100"></div>`: a slider
// without a position until it is first moved. Only then has its input a name, and so a value that is sent. The pointer
// is ours, as browsers differ in what a tap on the track does; keys are ours, as they differ in the steps of a page.
// Announces each move by a `slider-moved` event, which bubbles.

/** Width of the thumb in static/css/rate_controls.css. */
const THUMB_PX = 28;
/** A finger that moves further than this sets the slider if it moves sideways, and scrolls the page if up or down. */
const SLOP_PX = 6;
const MIDDLE = 50;
/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** @param {HTMLElement} el */
export function mountSlider(el) {
  const input = /** @type {HTMLInputElement} */ (el.querySelector("input"));
  /** @type {{ id: number, x: number, y: number, isSet: boolean } | null} */
  let drag = null;

  /** Say in words, not in numbers, the position of the slider. */
  const describe = () => {
    const left = el.dataset.left ?? "", right = el.dataset.right ?? "";
    const places = [left, `rather ${left}`, "in the middle", `rather ${right}`, right];
    const place = Math.round((input.valueAsNumber / 100) * (places.length - 1));
    input.setAttribute("aria-valuetext", places[place]);
  };

  /** @param {number} value */
  const set = (value) => {
    input.value = String(Math.min(100, Math.max(0, Math.round(value))));
    input.name = input.dataset.name ?? "";
    el.classList.add("is-set");
    describe();
  };
  const announce = () => el.dispatchEvent(new CustomEvent("slider-moved", { bubbles: true }));

  /** @param {PointerEvent} event */
  const setAt = (event) => {
    const box = input.getBoundingClientRect();
    set(((event.clientX - box.left - THUMB_PX / 2) / (box.width - THUMB_PX)) * 100);
  };

  el.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0) return;
    drag = { id: event.pointerId, x: event.clientX, y: event.clientY, isSet: event.pointerType === "mouse" };
    if (!drag.isSet) return; // perhaps the finger only scrolls
    event.preventDefault(); // no selection of the text around
    el.setPointerCapture(event.pointerId);
    input.focus({ preventScroll: true });
    setAt(event);
  });
  /** Drop a finger that scrolls: where the page cannot, the browser does not cancel it. @param {PointerEvent} event */
  const follow = (event) => {
    if (!drag || drag.isSet) return;
    const across = Math.abs(event.clientX - drag.x), along = Math.abs(event.clientY - drag.y);
    if (Math.max(across, along) <= SLOP_PX) return;
    if (across > along) drag.isSet = true;
    else drag = null;
  };

  el.addEventListener("pointermove", (event) => {
    if (drag?.id !== event.pointerId) return;
    follow(event);
    if (drag?.isSet) setAt(event);
  });
  // A finger that drags makes no gesture besides: else the browser may swallow the next tap, as it ends a fling.
  el.addEventListener("touchmove", (event) => drag?.isSet && event.cancelable && event.preventDefault(), {
    passive: false,
  });
  el.addEventListener("pointerup", (event) => {
    if (drag?.id !== event.pointerId) return;
    follow(event);
    if (!drag) return;
    drag = null;
    setAt(event);
    input.focus({ preventScroll: true });
    announce();
  });
  el.addEventListener("pointercancel", (event) => {
    if (drag?.id !== event.pointerId) return;
    if (drag.isSet) announce();
    drag = null;
  });

  input.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isSet = input.name !== "";
    if (event.key === "Home") set(0);
    else if (event.key === "End") set(100);
    else if (event.key in STEPS) set(isSet ? input.valueAsNumber + STEPS[event.key] : MIDDLE);
    else return;
    event.preventDefault();
    announce();
  });
  // What assistive technology does to the input itself.
  input.addEventListener("input", () => {
    set(input.valueAsNumber);
    announce();
  });
  // A key that was quicker than this script.
  if (input.value !== input.defaultValue) set(input.valueAsNumber);
}
