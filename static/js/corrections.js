// @ts-check
// `[data-clear]` takes back the answer of its statement, which is optional; what somebody types can be deleted as it is.
// `<form data-rating-refused="answer_1">` names the answer that the server could not take: it is marked and led to.

/** @typedef {import("./answers.js").Answer} Answer */

/** @param {HTMLFormElement} el @param {Answer[]} answers */
export function mount(el, answers) {
  const clears = [...el.querySelectorAll("[data-clear]")]
    .map((each) => /** @type {HTMLElement} */ (each))
    .filter((each) => each.parentElement?.querySelector("[type=range], [type=radio]"));
  /** @param {HTMLElement} clear */
  const answerBy = (clear) => answers.find(({ el: asked }) => asked.parentElement === clear.parentElement);
  const refresh = () => {
    for (const clear of clears) clear.hidden = !answerBy(clear)?.isSet;
  };
  for (const clear of clears) {
    clear.addEventListener("click", () => {
      const answer = answerBy(clear);
      answer?.set([]);
      answer?.el.dispatchEvent(new CustomEvent("answered", { bubbles: true }));
      /** @type {HTMLElement | null} */ (answer?.el.querySelector("input, select, textarea"))?.focus();
    });
  }
  el.addEventListener("answered", refresh);
  refresh();

  const refused = answers.find(({ name }) => name === el.dataset.ratingRefused);
  if (!refused) return;
  const fields = [...refused.el.querySelectorAll("input, select, textarea")];
  for (const field of fields) field.setAttribute("aria-invalid", "true");
  const clear = () => fields.forEach((field) => field.removeAttribute("aria-invalid"));
  refused.el.addEventListener("answered", clear, { once: true });
  refused.el.parentElement?.scrollIntoView({ block: "center" });
  /** @type {HTMLElement} */ (fields[0]).focus({ preventScroll: true });
}
