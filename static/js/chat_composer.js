// @ts-check
// `<form data-chat-say>`: the box for a message. Enter sends, Shift+Enter begins a new line; on touch screens, whose
// keyboards have no other way to a new line, Enter does that. Counts what is told of a message when it is sent.

/** @param {number} n */
const counted = (n) => `${n} character${n === 1 ? "" : "s"}`;

/** The characters that are left are counted from here on. */
const NEAR = 500;
const TOLD = ["typed_ms", "n_pastes", "n_pasted_chars", "n_focus_lost"];

/** @param {HTMLFormElement} el */
export function mount(el) {
  const box = /** @type {HTMLTextAreaElement} */ (el.elements.namedItem("text"));
  const send = /** @type {HTMLButtonElement} */ (el.querySelector("[data-chat-send]"));
  const counter = /** @type {HTMLElement} */ (el.querySelector("[data-chat-count]"));
  const longest = box.maxLength;
  const isTouch = matchMedia("(hover: none) and (pointer: coarse)");
  /** @type {Record<string, number>} */
  let told = {};
  /** @type {number | null} */
  let firstKeyAt = null;

  const forget = () => {
    told = Object.fromEntries(TOLD.map((name) => [name, 0]));
    firstKeyAt = null;
  };

  const refresh = () => {
    const isNear = box.value.length > longest - NEAR;
    const left = isNear ? longest - [...box.value].length : NEAR;
    counter.hidden = left >= NEAR;
    counter.classList.toggle("is-over", left < 0);
    counter.textContent = left < 0 ? `${counted(-left)} too many` : `${counted(left)} left`;
    box.style.blockSize = "auto";
    box.style.blockSize = `${box.scrollHeight + box.offsetHeight - box.clientHeight}px`;
  };

  box.addEventListener("keydown", (event) => {
    firstKeyAt ??= performance.now();
    const isPlain = !event.shiftKey && !event.altKey && !event.isComposing && event.keyCode !== 229;
    if (event.key !== "Enter" || !isPlain || isTouch.matches) return;
    event.preventDefault();
    el.requestSubmit(send);
  });
  box.addEventListener("beforeinput", () => (firstKeyAt ??= performance.now())); // a keyboard on a screen
  box.addEventListener("input", refresh);
  box.addEventListener("paste", (event) => {
    told.n_pastes += 1;
    told.n_pasted_chars += event.clipboardData?.getData("text").length ?? 0;
  });
  addEventListener("blur", () => (told.n_focus_lost += 1));
  addEventListener("resize", refresh);

  /** What the form sends, with what is told of the message. @returns {Record<string, string>} */
  const read = () => {
    if (firstKeyAt !== null) told.typed_ms = performance.now() - firstKeyAt;
    for (const name of TOLD) field(name).value = String(Math.round(told[name]));
    return Object.fromEntries([...new FormData(el)].map(([name, value]) => [name, String(value)]));
  };

  /** @param {string} name */
  const field = (name) => /** @type {HTMLInputElement} */ (el.elements.namedItem(name));

  /** @param {string} text */
  const fill = (text) => {
    box.value = text;
    refresh();
  };

  box.removeAttribute("maxlength"); // it would cut what is pasted without a word
  forget();
  refresh();
  return {
    read,
    fill,
    field,
    get text() {
      return box.value;
    },
    clear() {
      fill("");
      forget();
    },
    /** Put a message back that was not taken, before what was typed since. @param {string} text */
    restore(text) {
      fill(box.value ? `${text}\n${box.value}` : text);
    },
    focus: () => box.focus({ preventScroll: true }),
    /** While the chatbot writes, the worker can too, but not send. @param {boolean} isBusy */
    setBusy: (isBusy) => send.setAttribute("aria-disabled", String(isBusy)),
    get isBusy() {
      return send.getAttribute("aria-disabled") === "true";
    },
  };
}
