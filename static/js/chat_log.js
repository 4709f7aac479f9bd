// @ts-check
// `[data-chat-log]`: what was said, newest below, and whether the chatbot is writing. Turns are copies of the page's
// templates, so that they look as those that the server wrote.

/** A message that is answered sooner never shows that it is on its way. */
const SHOWN_MS = 600;
const SLACK_PX = 24;

/** @param {HTMLElement} el */
export function mount(el) {
  const list = /** @type {HTMLElement} */ (el.querySelector("[data-chat-turns]"));
  const typing = /** @type {HTMLElement} */ (el.querySelector("[data-chat-typing]"));
  const said = /** @type {HTMLElement} */ (document.querySelector("[data-chat-typing-said]"));

  /** Show the end of the chat, but of a long turn its beginning. @param {Element | null} turn */
  const follow = (turn) => {
    const top = turn instanceof HTMLElement ? turn.offsetTop : el.scrollHeight;
    el.scrollTop = Math.min(top, el.scrollHeight - el.clientHeight);
  };

  /** @param {string} by @param {string} text */
  const add = (by, text) => {
    const template = /** @type {HTMLTemplateElement} */ (document.querySelector(`[data-chat-turn="${by}"]`));
    const turn = /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
    const words = turn.querySelector("[data-chat-text]");
    if (words) words.textContent = text;
    list.append(turn);
    follow(turn);
    return turn;
  };

  /** What was said as the turn of a number. @param {number} number */
  const textOf = (number) => list.children[number - 1]?.querySelector("[data-chat-text]")?.textContent;

  /** @param {boolean} isTyping */
  const setTyping = (isTyping) => {
    if (typing.hidden === !isTyping) return;
    typing.hidden = !isTyping;
    said.textContent = isTyping ? "The chatbot is writing." : "";
    if (isTyping) follow(null);
  };

  /** Show a message that is being sent. @param {string} text */
  const send = (text) => {
    const turn = add("worker", text);
    const note = document.createElement("p");
    note.className = "turn-note";
    note.textContent = "Sending…";
    turn.append(note);
    follow(turn);
    const timer = setTimeout(() => {
      note.remove();
      setTyping(true);
    }, SHOWN_MS);
    return {
      lost() {
        clearTimeout(timer);
        setTyping(false);
        note.textContent = "Not sent yet";
        turn.append(note);
        follow(turn);
      },
      sent() {
        clearTimeout(timer);
        note.remove();
      },
      refused() {
        clearTimeout(timer);
        turn.remove();
      },
    };
  };

  // Whoever sees the end goes on seeing it when there is less room, as under a notice or a keyboard.
  let isAtEnd = true, height = el.clientHeight;
  el.addEventListener("scroll", () => {
    if (el.clientHeight === height) isAtEnd = el.scrollTop + height > el.scrollHeight - SLACK_PX;
  });
  new ResizeObserver(() => {
    height = el.clientHeight;
    if (isAtEnd) follow(null);
  }).observe(el);

  follow(list.lastElementChild);
  return { add, send, setTyping, textOf };
}
