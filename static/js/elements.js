// @ts-check
// What scripts add to a page: elements, and dialogs that are open on top of it.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, string | number>} attributes @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** Open a dialog until Escape or its button closes it. @param {string} title @param {Node[]} children */
export function openDialog(title, ...children) {
  const close = make("button", { class: "button button-main" }, "Close");
  const form = make("form", { method: "dialog" }, make("h2", { id: "dialog-title" }, title), ...children, make("p", { class: "actions" }, close));
  const dialog = make("dialog", { class: "dialog page-dialog", "aria-labelledby": "dialog-title" }, form);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // they are not of the page below
  document.body.append(dialog);
  dialog.showModal?.();
  close.focus();
}
