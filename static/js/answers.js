// @ts-check
// What answers a statement on a worker's page, other than sliders: `<div data-answer="what to do to go on">` around native
// inputs, and `<div data-abstain>` for somebody who cannot judge, which goes before an answer. A change is announced by an
// `answered` event, which bubbles.

/** @typedef {{ el: HTMLElement, name: string, set(value: any): void, isSet: boolean, value: any, ask(): void }} Answer */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** Return all answers of a form in their order; its sliders are mounted already.
 * @param {HTMLFormElement} el @param {Answer[]} sliders @returns {Answer[]} */
export function mount(el, sliders) {
  return [...el.querySelectorAll(".statement")].flatMap((statement) => {
    const asked = /** @type {HTMLElement} */ (statement.querySelector("[data-slider], [data-answer]"));
    const answer = sliders.find((slider) => slider.el === asked) ?? mountAnswer(asked);
    const abstain = /** @type {HTMLElement | null} */ (statement.querySelector("[data-abstain]"));
    if (!abstain) return [answer];
    const reason = mountAnswer(abstain);
    asked.addEventListener("answered", () => reason.set([])); // who answers can judge
    const nowhere = { el: { value: document.createElement("div") } }; // no answer is required there
    return [abstainable(answer, reason), Object.create(reason, nowhere)];
  });
}

/** @param {Field} field */
const isTick = (field) => field instanceof HTMLInputElement && (field.type === "radio" || field.type === "checkbox");

/** @param {Field} field */
const hasValue = (field) => (isTick(field) ? /** @type {HTMLInputElement} */ (field).checked : field.value.trim() !== "");

/** @param {HTMLElement} el @returns {Answer} */
function mountAnswer(el) {
  const fields = [...el.querySelectorAll("input, select, textarea")].map((field) => /** @type {Field} */ (field));
  const why = el.querySelector("[data-answer-why]");

  const clear = () => {
    el.classList.remove("is-missing");
    if (why) why.textContent = "";
  };
  el.addEventListener("input", () => {
    clear();
    el.dispatchEvent(new CustomEvent("answered", { bubbles: true }));
  });

  return {
    el,
    name: fields[0].name,
    get isSet() {
      return fields.some(hasValue);
    },
    get value() {
      return fields.filter(hasValue).map((field) => field.value);
    },
    /** @param {string[]} values */
    set(values) {
      for (const field of fields) {
        if (isTick(field)) /** @type {HTMLInputElement} */ (field).checked = values.includes(field.value);
        else field.value = values[0] ?? "";
      }
      clear();
    },
    /** Show this answer, and say that it is missing. */
    ask() {
      el.classList.add("is-missing");
      if (why) why.textContent = el.dataset.answer ?? "";
      const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      el.parentElement?.scrollIntoView({ block: "center", behavior: isCalm ? "auto" : "smooth" });
      fields[0].focus({ preventScroll: true });
    },
  };
}

/** Return an answer that is not missing where there is a reason for that.
 * @param {Answer} answer @param {Answer} reason @returns {Answer} */
function abstainable(answer, reason) {
  return {
    el: answer.el,
    name: answer.name,
    get isSet() {
      return answer.isSet || reason.isSet;
    },
    get value() {
      return answer.isSet ? answer.value : null;
    },
    set: (value) => value !== null && answer.set(value),
    ask: answer.ask,
  };
}
