// @ts-check
// The behaviours of the worker pages, in one file, so that an item can be rated soon on a slow connection. Those of chats
// and of the completion code are fetched by their pages alone.

/** @type {[string, (el: any) => void][]} */
const BEHAVIOURS = [
  ["form[data-rating]", mountRating],
  ["form[data-online]", (el) => import("./online.js").then(({ mount }) => mount(el, openKept))],
  ["form[data-once]", mountOnce],
  ["template[data-ahead]", mountAhead],
  ["[data-chat]", (el) => import("./chat.js").then(({ mount }) => mount(el, openKept(false)))],
  ["[data-chat-topic]", (el) => import("./chat.js").then(({ mountTopic }) => mountTopic(el))],
  ["button[data-copy-from]", (el) => import("./copy.js").then(({ mount }) => mount(el))],
];

for (const [selector, mount] of BEHAVIOURS) {
  for (const el of document.querySelectorAll(selector)) mount(el);
}
// What can wait until the item, and what is fetched ahead, is there.
whenLoaded(() => setTimeout(() => import("./tools.js").then(({ mount }) => mount(nameKept))));

// ---
// What somebody has done on a page that the server does not have yet. `<main data-kept="…" data-kept-part="item 3">`
// names the assignment and what the page shows of it. It lies in the browser's storage where a page may use that, else in
// the state of the tab's history: a frame of another site may have that alone, and one without an origin has neither.

/** @typedef {{ read(): any, write(value: object): void, remove(): void }} Kept */

/** @param {boolean} [inHistory] whether the history may keep it, too @returns {Kept} */
function openKept(inHistory = true) {
  const key = nameKept();
  return {
    read() {
      try {
        const found = localStorage.getItem(key);
        if (found) return JSON.parse(found).value;
      } catch {
        // Refused, or not ours.
      }
      const carried = takeCarried();
      if (carried) setState({ ...history.state, kept: carried });
      const found = carried ?? history.state?.kept;
      return found?.key === key ? found.value : null;
    },
    write(value) {
      try {
        localStorage.setItem(key, JSON.stringify({ value, at: Date.now() }));
      } catch {
        if (inHistory) setState({ ...history.state, kept: { key, value } });
      }
    },
    remove() {
      try {
        localStorage.removeItem(key);
      } catch {
        // As above.
      }
      if (history.state?.kept) setState({ ...history.state, kept: null });
    },
  };
}

/** @param {string} [part] */
function nameKept(part) {
  const { kept, keptPart } = /** @type {HTMLElement} */ (document.querySelector("main")).dataset;
  return `evalsite-kept ${kept} ${part ?? keptPart}`;
}

/** Return what the page before has put into the name of the window, beside what tools.js has.
 * @returns {{ key: string, value: any } | null} */
function takeCarried() {
  const [, carried] = /^evalsite-kept (.*)/s.exec(self.name) ?? [];
  if (!carried) return null;
  const { kept, ...others } = JSON.parse(carried);
  self.name = `evalsite-kept ${JSON.stringify(others)}`;
  return kept;
}

/** @param {any} state @returns {boolean} */
function setState(state) {
  try {
    history.replaceState(state, "", location.href);
    return true;
  } catch {
    return false; // in some frames
  }
}

// ---
// `<form data-rating>`: its button works once every `[data-required]` statement is answered and while there is a
// connection; before, it leads to the first that is not. `[data-rating-draft]` sends what there is, to go on later. Reports to the server how long the item took, how often answers
// were changed, how often the page was left or pasted into. After a reload the answers stand as they were left, and what
// was sent and did not arrive is sent once more: the server takes an item once. Answers other than sliders are mounted by
// answers.js, which only pages that have some fetch.

/** @typedef {{ el: HTMLElement, name: string, set(value: any): void, isSet: boolean, isBegun?: boolean, value: any, ask(): void }} Answer */

/** @param {HTMLFormElement} el */
function mountRating(el) {
  const kept = openKept();
  const found = kept.read() ?? {};
  found.scores = { ...JSON.parse(el.dataset.ratingSaved ?? "{}"), ...found.scores };
  const shownAt = performance.now() - (found.shown_ms ?? 0);
  /** @type {number | null} */
  let firstTouchAt = found.first_touch_ms == null ? null : shownAt + found.first_touch_ms;
  let nSent = found.nSent ?? 0;
  const counts = { n_moves: 0, n_focus_lost: 0, n_pastes: 0, ...found.counts };
  const sliders = [...el.querySelectorAll("[data-slider]")].map((each) => mountSlider(/** @type {HTMLElement} */ (each)));
  const hasOthers = el.querySelector("[data-answer], [data-abstain], [data-shown-on]") !== null;
  /** @type {Answer[]} */
  let answers = sliders;
  let isReady = !hasOthers, isWhole = !hasOthers; // whether all answers of the page are known here
  let isPressed = false; // before they are
  const button = /** @type {HTMLButtonElement} */ (el.querySelector("[data-rating-next]"));
  const hint = /** @type {HTMLElement} */ (el.querySelector("[data-rating-hint]"));
  const left = /** @type {HTMLElement} */ (el.querySelector("[data-rating-left]"));
  const link = /** @type {HTMLElement} */ (el.querySelector("[data-rating-missing]"));
  const offline = /** @type {HTMLElement} */ (el.querySelector("[data-rating-offline]"));
  const unsent = /** @type {HTMLElement} */ (el.querySelector("[data-rating-unsent]"));

  const required = () =>
    answers.filter(({ el: asked }) => {
      const statement = asked.closest("[data-required]:not([hidden])");
      return statement && (isWhole || !statement.querySelector("[data-abstain]"));
    });
  const missing = () => required().filter((answer) => !answer.isSet);

  button.disabled = false; // without this script it is

  const refresh = () => {
    const n = missing().length;
    button.setAttribute("aria-disabled", String(n > 0 || !isReady || !navigator.onLine));
    hint.hidden = n === 0;
    if (hasOthers) left.textContent = `${n} answer${n === 1 ? "" : "s"} left.`;
    else if (n < required().length) left.textContent = `${n} slider${n === 1 ? "" : "s"} left to move.`;
    link.textContent = n === 1 ? "Go to it" : "Go to the first";
    offline.hidden = navigator.onLine;
  };

  /** Show what is asked after some answers only; answers.js knows. @param {Answer[]} _ */
  let showAsked = (_) => {};

  const keep = () => {
    const now = performance.now();
    const set = Object.fromEntries(answers.filter((each) => each.isBegun ?? each.isSet).map(({ name, value }) => [name, value]));
    const scores = isWhole ? set : { ...found.scores, ...set };
    const times = { shown_ms: now - shownAt, first_touch_ms: firstTouchAt && firstTouchAt - shownAt };
    kept.write({ scores, counts, ...times, nSent });
    return { ...times, ...counts };
  };

  el.addEventListener("answered", () => {
    showAsked(answers);
    firstTouchAt ??= performance.now();
    counts.n_moves += 1;
    nSent = 0;
    keep();
    refresh();
  });
  // Browsers differ in what Enter in a slider does: here it is the button.
  el.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    if (!event.repeat) button.click();
  });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    missing()[0]?.ask();
  });
  addEventListener("blur", () => (counts.n_focus_lost += 1));
  document.addEventListener("paste", () => (counts.n_pastes += 1));
  addEventListener("online", refresh);
  addEventListener("offline", refresh);

  el.addEventListener("submit", (event) => {
    const isDraft = event.submitter?.hasAttribute("data-rating-draft");
    const [first] = isDraft ? [] : missing();
    if (first || !isReady || !navigator.onLine) {
      event.preventDefault();
      event.stopImmediatePropagation();
      isPressed ||= !isReady && !isDraft;
      first?.ask();
      return;
    }
    if (!el.classList.contains("is-sent") && !isDraft) nSent += 1; // else data-once keeps it back
    for (const [name, value] of Object.entries(keep())) {
      const field = el.elements.namedItem(name);
      if (field instanceof HTMLInputElement && value !== null) field.value = String(Math.round(value));
    }
  });

  // A form is answered with the next item's page, in one round trip: make a reload ask for it, not send the form again.
  // In a frame without an origin Firefox would send it all the same: there the server is asked for a redirect.
  const isReplaced = setState(history.state) && !(self.origin === "null" && CSS.supports("-moz-appearance", "none"));
  const redirect = el.elements.namedItem("redirect");
  if (redirect instanceof HTMLInputElement && !isReplaced) redirect.value = "1";

  const restore = () => {
    isReady = true;
    for (const answer of answers) if (answer.name in (found.scores ?? {})) answer.set(found.scores[answer.name]);
    showAsked(answers);
    refresh();
    if (isPressed) missing()[0]?.ask();
    if (el.dataset.ratingRefused || el.querySelector("[data-clear]")) {
      import("./corrections.js").then(({ mount }) => mount(el, answers));
    }
    if (!isWhole || !nSent || missing().length || el.hasAttribute("data-rating-refused")) return;
    unsent.hidden = false;
    if (nSent === 1) setTimeout(() => el.requestSubmit(button)); // once data-once is there
    else unsent.textContent = "What you rated has not arrived yet. Go on to send it again.";
  };
  if (!hasOthers) restore();
  else {
    refresh();
    const others = import("./answers.js").then(async ({ mount, mountBranches }) => {
      answers = await mount(el, sliders);
      showAsked = mountBranches(el);
      isWhole = true;
    });
    others.catch(() => {}).then(restore); // without it the server says what is missing
  }

  // Where the sliders are below the fold and the texts above were read with the item before, begin at what is new.
  const fresh = el.querySelector("[data-rating-fresh]");
  const last = [...el.querySelectorAll(".statement")].at(-1);
  if (fresh && last && last.getBoundingClientRect().bottom > innerHeight) fresh.scrollIntoView();
}

// ---
// `<div data-slider data-left="…" data-right="…" data-between="a label a line">`, with
// `<input type="range" data-name="…" min="0" max="100">` in it: a slider without a position until it is first moved.
// Only then has its input a name, and so a value that is sent. The pointer
// is ours, as browsers differ in what a tap on the track does; keys are ours, as they differ in the steps of a page.
// Announces each move by an `answered` event, which bubbles.

/** @param {HTMLElement} el */
function mountSlider(el) {
  /** Width of the thumb in static/css/rate.css. */
  const THUMB_PX = 28;
  /** A finger that moves further than this sets the slider if it moves sideways, and scrolls the page if up or down. */
  const SLOP_PX = 6;
  const MIDDLE = 50;
  /** @type {Record<string, number>} */
  const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  const input = /** @type {HTMLInputElement} */ (el.querySelector("input"));
  const name = input.dataset.name ?? "";
  const why = /** @type {HTMLElement} */ (el.querySelector("[data-slider-why]"));
  /** @type {{ id: number, x: number, y: number, isSet: boolean } | null} */
  let drag = null;

  /** Say in words, not in numbers, the position of the slider. */
  const describe = () => {
    const left = el.dataset.left ?? "", right = el.dataset.right ?? "";
    let places = [left, `rather ${left}`, "in the middle", `rather ${right}`, right];
    if (el.dataset.between) {
      const labels = [left, ...el.dataset.between.split("\n"), right];
      places = labels.flatMap((label, k) => (k ? [`between ${labels[k - 1]} and ${label}`, label] : [label]));
    }
    const place = Math.round((input.valueAsNumber / 100) * (places.length - 1));
    input.setAttribute("aria-valuetext", places[place]);
  };

  /** @param {number} value */
  const set = (value) => {
    input.value = String(Math.min(100, Math.max(0, Math.round(value))));
    input.name = name;
    el.classList.add("is-set");
    el.classList.remove("is-missing");
    why.textContent = "";
    describe();
  };
  const clear = () => {
    input.removeAttribute("name");
    el.classList.remove("is-set");
    input.setAttribute("aria-valuetext", "not set yet");
  };
  const announce = () => el.dispatchEvent(new CustomEvent("answered", { bubbles: true }));

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

  return {
    el,
    name,
    /** @param {number | never[]} value */
    set: (value) => (Array.isArray(value) && !value.length ? clear() : set(Number(value))),
    get isSet() {
      return input.name !== "";
    },
    get value() {
      return input.valueAsNumber;
    },
    /** Show this slider, and say that it is to be moved. */
    ask() {
      el.classList.add("is-missing");
      why.textContent = "Not moved yet: move this slider to go on.";
      const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      el.parentElement?.scrollIntoView({ block: "center", behavior: isCalm ? "auto" : "smooth" });
      input.focus({ preventScroll: true });
    },
  };
}

// ---
// `<form data-once>`: sent once, however often its button is pressed. Also takes a page that the browser kept from
// before, when somebody goes back to it, to what the server shows now.

/** @param {HTMLFormElement} el */
function mountOnce(el) {
  let isSent = false;
  el.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
    el.classList.add("is-sent");
    // Where the connection is lost without a word, let them try again: the server takes nothing twice.
    setTimeout(() => {
      isSent = false;
      el.classList.remove("is-sent");
    }, 10_000);
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}

// ---
// `<template data-ahead>`: images of the next item, fetched once this page has all of its own.

/** @param {HTMLTemplateElement} el */
function mountAhead(el) {
  whenLoaded(() => /** @type {HTMLElement} */ (el.nextElementSibling).append(el.content));
}

/** @param {() => void} act */
function whenLoaded(act) {
  if (document.readyState === "complete") act();
  else addEventListener("load", act);
}
