// @ts-check
// `[data-chat-notice]`: what the worker should know now, and what can be done about it. Its actions are those of the
// page without script, and one to try the connection.

export const LOST = "There is no connection. Your message is kept here, and the chat goes on when the connection is back.";
export const LOST_AT_END = "There is no connection. Nothing is lost: try again when it is back.";
export const BUSY = "The chatbot is still writing. You can send this when its reply is there.";
export const ON_ITS_WAY = "Your last message is still on its way. Go on when its reply is there.";

/** @param {HTMLElement} el */
export function mount(el) {
  const words = /** @type {HTMLElement} */ (el.querySelector("[data-chat-words]"));
  const actions = [...el.querySelectorAll("[data-chat-action]")];
  /** @param {Element} action */
  const nameOf = (action) => action.getAttribute("data-chat-action") ?? "";
  const written = words.textContent ?? "", isErrorWritten = el.classList.contains("notice-error");
  const offered = actions.filter((action) => !action.hasAttribute("hidden")).map(nameOf);

  /**
   * Say something, with the actions named: `connect`, `reply`, `leave`.
   * @param {string} text @param {string[]} [names] @param {boolean} [isError]
   */
  const show = (text, names = [], isError = false) => {
    const hadFocus = actions.some((action) => action.contains(document.activeElement));
    if (words.textContent !== text) words.textContent = text; // said again only if it is news
    el.classList.toggle("notice", text !== "");
    el.classList.toggle("notice-error", isError);
    for (const action of actions) action.toggleAttribute("hidden", !names.includes(nameOf(action)));
    return hadFocus && names.length === 0;
  };

  return {
    show,
    clear: () => show(""),
    /** Say something, but not in the place of what can be acted upon. @param {string} text */
    remark(text) {
      if (actions.every((action) => action.hasAttribute("hidden"))) show(text);
    },
    /** Show again what the server wrote. */
    reset: () => show(written, offered, isErrorWritten),
  };
}
