// @ts-check
// `<div data-slider data-left="…" data-right="…"><input type="range" data-name="…" min="0" max="100"></div>`: a slider
// without a position until it is first moved. Only then has its input a name, and so a value that is sent. The pointer
// is ours, as browsers differ in what a tap on the track does; keys are ours, as they differ in the steps of a page.
// Tells of each move by a `slider-moved` event, which bubbles.

/** Width of the thumb in static/css/rate_controls.css. */
const THUMB_PX = 28;
/** A finger that moves further than this sets the slider if it moves sideways, and scrolls the page if up or down. */
const SLOP_PX = 6;
const MIDDLE = 50;
/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** @param {HTMLElement} el */
export function mount(el) {
  const input = /** @type {HTMLInputElement} */ (el.querySelector("input"));
  /** @type {{ id: number, x: number, y: number, isSet: boolean } | null} */
  let drag = null;

  /** Say in words, not in numbers, where the slider stands. */
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
  const tell = () => el.dispatchEvent(new CustomEvent("slider-moved", { bubbles: true }));

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
    tell();
  });
  el.addEventListener("pointercancel", (event) => {
    if (drag?.id !== event.pointerId) return;
    if (drag.isSet) tell();
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
    tell();
  });
  // What assistive technology does to the input itself.
  input.addEventListener("input", () => {
    set(input.valueAsNumber);
    tell();
  });
  // A key that was quicker than this script.
  if (input.value !== input.defaultValue) set(input.valueAsNumber);
}
