// @ts-check
// What is typed in a chat, kept over a reload in the state of the tab's history: frames of other sites have that, and no
// storage. (One without an origin has neither: there a reload loses what was not sent.) Warns before the page is left.

const PAUSE_MS = 400;
/** Forms after which the chat goes on, where a browser sends them. */
const KEEPING = "[data-chat-reply], [data-chat-change]";

/**
 * `pending` is on its way: the server has it if it has a turn of that number. `notice` is for the page after.
 * @typedef {{ draft?: string, pending?: { number: number, text: string } | null, notice?: string }} Kept
 */

/** @param {HTMLElement} el */
export function mount(el) {
  const { chatUrl: url, chatPosition: position } = el.dataset;
  /** @type {Kept} */
  let kept = {};
  let isLeaving = false;
  /** @type {number | undefined} */
  let timer;
  const carried = new URLSearchParams(location.hash.slice(1));
  if (history.state?.chat?.position === position) kept = history.state.chat;
  else if (carried.get("position") === position) kept = { draft: carried.get("draft") ?? "" };

  const write = () => {
    clearTimeout(timer);
    try {
      // With the address of the page itself: a reload asks for it, and does not send a form again.
      history.replaceState({ chat: { position, ...kept } }, "", url);
    } catch {
      // Refused in some frames.
    }
  };

  /** @param {Kept} more */
  const keep = (more) => {
    kept = { ...kept, ...more };
    write();
  };

  // The page after a form has no state yet: what is typed goes there in the address, after the #, unseen by the server.
  el.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (event.defaultPrevented || !form.matches(KEEPING)) return;
    const action = new URL(form.action);
    if (kept.draft) action.hash = String(new URLSearchParams({ position: position ?? "", draft: kept.draft }));
    form.action = action.href;
    isLeaving = !kept.pending;
  });
  addEventListener("pagehide", write);
  addEventListener("beforeunload", (event) => {
    write();
    if (!isLeaving && (kept.draft?.trim() || kept.pending)) event.preventDefault();
  });
  // As the browser kept it, the page is not how things stand.
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  const found = kept;
  kept = { ...kept, notice: "" };
  write();
  return {
    found,
    keep,
    /** Keep soon: browsers allow few writes. @param {string} draft */
    keepSoon(draft) {
      kept = { ...kept, draft };
      clearTimeout(timer);
      timer = setTimeout(write, PAUSE_MS);
    },
    /** Whether a message is on its way. */
    get isPending() {
      return Boolean(kept.pending);
    },
    /**
     * Send a form as without script, where the browser lets a script send nothing.
     * @param {HTMLFormElement} form @param {string} url
     */
    submit(form, url) {
      isLeaving = true;
      form.action = url;
      form.submit();
    },
    reload() {
      isLeaving = true;
      location.reload();
    },
    /** Go on to what comes next. */
    leave() {
      isLeaving = true;
      location.replace(url ?? location.href);
    },
  };
}
