// @ts-check
// What answers a statement on a worker's page, other than sliders: `<div data-answer="what to do to go on">` around native
// inputs, and `<div data-abstain>` for somebody who cannot judge, which goes before an answer. A change is announced by an
// `answered` event, which bubbles. An answer may have parts, whose inputs are called by its name, a dot and a part: with
// `data-answer-whole` all are needed, with `data-answer-apart` no two may be of one place, as `best:2` and `worst:2` are.
// A statement with `data-answer-script` has a script of its own, fetched here and mounted on its `[data-answer]`: it keeps the
// answer in the inputs that have a name, sends `input` events from them, and hears of answers that were restored by the
// event `restored`. `[data-answer-focus]` is what is focused where the answer is missing. Or it returns an answer of its own.

/** @typedef {{ el: HTMLElement, name: string, set(value: any): void, isSet: boolean, isBegun?: boolean, value: any, ask(): void }} Answer */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** Return all answers of a form in their order; its sliders are mounted already.
 * @param {HTMLFormElement} el @param {Answer[]} sliders @returns {Promise<Answer[]>} */
export async function mount(el, sliders) {
  const statements = [...el.querySelectorAll(".statement")].map((each) => /** @type {HTMLElement} */ (each));
  const mounted = statements.map(async (statement) => {
    const asked = /** @type {HTMLElement} */ (statement.querySelector("[data-slider], [data-answer]"));
    const script = statement.dataset.answerScript;
    const own = script && (await import(script).catch(() => null));
    const answer = sliders.find((slider) => slider.el === asked) ?? own?.mount(asked) ?? mountAnswer(asked);
    const abstain = /** @type {HTMLElement | null} */ (statement.querySelector("[data-abstain]"));
    if (!abstain) return [answer];
    const reason = mountAnswer(abstain);
    asked.addEventListener("answered", () => reason.set([])); // who answers can judge
    const nowhere = { el: { value: document.createElement("div") } }; // no answer is required there
    return [abstainable(answer, reason), Object.create(reason, nowhere)];
  });
  return (await Promise.all(mounted)).flat();
}

/** Return what shows each `[data-shown-on]`, which is asked only after one of some answers; what is not asked is not sent.
 * @param {HTMLFormElement} el @returns {(answers: Answer[]) => void} */
export function mountBranches(el) {
  const branches = [...el.querySelectorAll("[data-shown-on]")].map((each) => /** @type {HTMLElement} */ (each));
  return (answers) => {
    for (const branch of branches) {
      const { shownOn = "", shownValues = "[]" } = branch.dataset;
      const place = /^[a-z]+_\d+((?:_\d+)*)/.exec(answerNames(branch)[0] ?? "")?.[1] ?? ""; // and the reply
      const names = [`${shownOn}${place}`, shownOn];
      const before = answers.find(({ name, el: asked }) => names.includes(name) && !asked.closest("[hidden]"));
      const given = before?.isSet ? [before.value].flat().map(String) : [];
      branch.hidden = !given.some((value) => JSON.parse(shownValues).includes(value));
      for (const field of branch.querySelectorAll("input, select, textarea")) {
        /** @type {HTMLInputElement} */ (field).disabled = branch.hidden;
      }
    }
  };
}

/** Return the names of what answers a statement. @param {HTMLElement} statement */
function answerNames(statement) {
  const fields = statement.querySelectorAll("input, select, textarea");
  return [...fields].map((field) => field.getAttribute("name") ?? /** @type {HTMLElement} */ (field).dataset.name ?? "");
}

/** @param {Field} field */
const isTick = (field) => field instanceof HTMLInputElement && (field.type === "radio" || field.type === "checkbox");

/** @param {Field} field */
const hasValue = (field) => (isTick(field) ? /** @type {HTMLInputElement} */ (field).checked : field.value.trim() !== "");

/** @param {HTMLElement} el @returns {Answer} */
function mountAnswer(el) {
  const fields = [...el.querySelectorAll("input[name], select[name], textarea[name]")].map((field) => /** @type {Field} */ (field));
  const why = el.querySelector("[data-answer-why]");

  /** Return the first field of a part that has no value; without parts that are all needed, of an answer without any. */
  const missing = () => {
    const given = new Set(fields.filter(hasValue).map((field) => field.name));
    const isEnough = !el.hasAttribute("data-answer-whole") && given.size > 0;
    return isEnough ? undefined : fields.find((field) => !given.has(field.name));
  };
  const clear = () => {
    el.classList.remove("is-missing");
    if (why) why.textContent = "";
  };
  el.addEventListener("input", (event) => {
    if (!fields.some((field) => field === event.target)) return; // of a control that makes the answer
    clear();
    const { target } = event;
    if (el.hasAttribute("data-answer-apart") && target instanceof HTMLInputElement) {
      for (const field of fields) {
        const isSame = field !== target && field.value.split(":")[1] === target.value.split(":")[1];
        if (isSame) /** @type {HTMLInputElement} */ (field).checked = false;
      }
    }
    el.dispatchEvent(new CustomEvent("answered", { bubbles: true }));
  });

  return {
    el,
    name: fields[0].name.split(".")[0],
    get isSet() {
      return !missing();
    },
    get isBegun() {
      return fields.some(hasValue);
    },
    get value() {
      return fields.filter(hasValue).map((field) => field.value);
    },
    /** @param {string[]} values */
    set(values) {
      for (const field of fields) {
        if (isTick(field)) /** @type {HTMLInputElement} */ (field).checked = values.includes(field.value);
        else if (field instanceof HTMLSelectElement) {
          field.value = values.find((value) => [...field.options].some((option) => option.value === value)) ?? "";
        } else field.value = values[0] ?? "";
      }
      el.dispatchEvent(new Event("restored"));
      clear();
    },
    /** Show this answer, and say that it is missing. */
    ask() {
      el.classList.add("is-missing");
      if (why) why.textContent = el.dataset.answer ?? "";
      const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      el.parentElement?.scrollIntoView({ block: "center", behavior: isCalm ? "auto" : "smooth" });
      const first = /** @type {HTMLElement} */ (el.querySelector("[data-answer-focus]") ?? missing() ?? fields[0]);
      first.focus({ preventScroll: true });
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
    get isBegun() {
      return answer.isBegun ?? answer.isSet;
    },
    get value() {
      return this.isBegun ? answer.value : null;
    },
    set(value) {
      if (value === null) return;
      answer.set(value);
      if (Array.isArray(value) && !value.length) reason.set([]);
    },
    ask: answer.ask,
  };
}
