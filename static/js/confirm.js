// @ts-check
// `<form data-confirm="Question" data-confirm-action="Delete">`: asks before the form is sent. `data-confirm` on
// the submit button that was used comes before the form's own.

/**
 * @param {string} tag @param {string} className @param {string} [text]
 * @returns {HTMLElement}
 */
function make(tag, className, text = "") {
  const el = document.createElement(tag);
  el.className = className;
  el.textContent = text;
  return el;
}

/**
 * Ask, and say whether the answer was yes.
 * @param {string} question @param {string} action
 * @returns {Promise<boolean>}
 */
function ask(question, action) {
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", "dialog"));
  const text = make("p", "dialog-text", question);
  const buttons = make("div", "dialog-buttons");
  const no = make("button", "btn btn-secondary", "Cancel");
  const yes = make("button", "btn btn-primary", action);
  for (const button of [no, yes]) button.setAttribute("type", "button");
  text.id = `dialog-text-${Date.now()}`;
  dialog.setAttribute("aria-labelledby", text.id);
  buttons.append(no, yes);
  dialog.append(text, buttons);
  document.body.append(dialog);
  return new Promise((resolve) => {
    no.addEventListener("click", () => dialog.close());
    yes.addEventListener("click", () => dialog.close("yes"));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    dialog.showModal();
    no.focus();
  });
}

/** @param {HTMLFormElement} el */
export function mount(el) {
  let agreed = false;
  el.addEventListener("submit", async (event) => {
    if (agreed) return;
    const button = event.submitter;
    const question = button?.dataset.confirm || el.dataset.confirm || "Are you sure?";
    const action = button?.dataset.confirmAction || el.dataset.confirmAction || button?.textContent?.trim() || "OK";
    event.preventDefault();
    event.stopImmediatePropagation();
    if (await ask(question, action)) {
      agreed = true;
      el.requestSubmit(button);
      agreed = false;
    }
    button?.focus();
  });
}
