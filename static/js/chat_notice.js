// @ts-check
// `[data-chat-notice]`: what the worker should know now, and what can be done about it. Its actions are those of the
// page without script, and one to try the connection.

/** @param {HTMLElement} el */
export function mount(el) {
  const words = /** @type {HTMLElement} */ (el.querySelector("[data-chat-words]"));
  const actions = [...el.querySelectorAll("[data-chat-action]")];

  /**
   * Say something, with the actions named: `connect`, `reply`, `leave`.
   * @param {string} text @param {string[]} [names] @param {boolean} [isError]
   */
  const show = (text, names = [], isError = false) => {
    const hadFocus = actions.some((action) => action.contains(document.activeElement));
    if (words.textContent !== text) words.textContent = text; // said again only if it is news
    el.classList.toggle("notice", text !== "");
    el.classList.toggle("notice-error", isError);
    for (const action of actions) {
      const isOffered = names.includes(action.getAttribute("data-chat-action") ?? "");
      action.toggleAttribute("hidden", !isOffered);
    }
    return hadFocus && names.length === 0;
  };

  return { show, clear: () => show("") };
}
