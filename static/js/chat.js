// @ts-check
// `[data-chat]`: a worker's chat, or two at once. Says what the worker says, waits for replies, goes on to the rating;
// never loses what was typed. The server alone knows the state of the chat; where the page differs, it is loaded again.
import { mount as connect } from "./chat_server.js";

/** @typedef {import("./chat_server.js").Answer} Answer */

/**
 * One of the chatbots: its name and place if there are two, else "" and 0; the number of the turn that comes next in its
 * chat; the answer with which its reply was given up.
 * @typedef {{ name: string, place: number, number: number, isAwaited: boolean, failure?: Answer }} Chatbot
 */

/** @typedef {{ read(): any, write(value: object): void, remove(): void }} KeptInBrowser */

/** @param {HTMLElement} el @param {KeptInBrowser} stored what the browser keeps of this chat (static/js/rate.js) */
export function mount(el, stored) {
  /** @param {string} selector */
  const find = (selector) => /** @type {HTMLElement} */ (el.querySelector(selector));
  const form = /** @type {HTMLFormElement} */ (find("form[data-chat-say]"));
  const replyForm = /** @type {HTMLFormElement} */ (find("form[data-chat-reply]"));
  const inputs = /** @type {HTMLProgressElement} */ (find("[data-chat-inputs] progress"));
  const endButton = find("[data-chat-end]"), endCount = find("[data-chat-end-count]");
  const log = mountLog(find("[data-chat-log]"));
  const notice = mountNotice(find("[data-chat-notice]"));
  const composer = mountComposer(form);
  const draft = mountDraft(el, stored);
  const server = connect(el);
  const number = composer.field("number"), warned = composer.field("warned");

  const awaited = el.dataset.chatAwaits; // absent if none is
  const next = Number(number.value);
  /** @type {Chatbot[]} */
  const chatbots = [...(el.dataset.chatNames ?? " ")].map((letter, k, { length }) => {
    const name = letter.trim(), isAwaited = awaited?.includes(name) ?? false;
    return { name, place: length > 1 ? k + 1 : 0, number: next + Number(awaited !== undefined && !isAwaited), isAwaited };
  });

  const sayLost = () => {
    log.setTyping(false);
    notice.show(LOST, ["connect"]);
  };
  const clearNotice = () => notice.clear() && composer.focus();

  /** Show whether replies are awaited, and what can be done about those that were given up. */
  const settle = () => {
    const isAwaited = chatbots.some((each) => each.isAwaited);
    const failure = chatbots.find((each) => each.failure)?.failure;
    log.setTyping(isAwaited);
    composer.setBusy(isAwaited || failure !== undefined);
    if (failure) notice.show(failure.message ?? "", failure.can_leave ? ["reply", "leave"] : ["reply"]);
  };

  /** Show the state of a chat. @param {Answer} answer @param {Chatbot} chatbot */
  const take = (answer, chatbot) => {
    chatbot.number = answer.number ?? chatbot.number;
    number.value = String(Math.min(...chatbots.map((each) => each.number)));
    const nInputs = answer.n_inputs ?? 0;
    inputs.value = nInputs;
    endButton.setAttribute("aria-disabled", String(nInputs < inputs.max));
    endCount.hidden = nInputs >= inputs.max;
    endCount.textContent = `${nInputs} of ${inputs.max}`;
    find("[data-chat-inputs] span").textContent = answer.progress ?? "";
    form.classList.toggle("is-full", answer.is_full ?? false);
    for (const { by, text } of answer.turns ?? []) log.add(by === "chatbot" ? by + chatbot.name : by, text);
  };

  /** Say why something was refused; load the page again if the page is out of date. @param {Answer} answer */
  const refuse = (answer) => {
    if (answer.isPassed) {
      draft.keep({ draft: composer.text, pending: null, notice: answer.message });
      draft.reload();
    } else notice.show(answer.message ?? "", [], true);
  };

  /** Ask for a reply until there is one or it is given up. @param {Answer} answer @param {Chatbot} chatbot */
  const follow = async (answer, chatbot) => {
    while (answer.status === "waiting") {
      take(answer, chatbot);
      chatbot.isAwaited = true;
      log.setTyping(true);
      await server.rest(answer.wait_ms ?? 0);
      answer = await askReply({}, chatbot);
    }
    chatbot.isAwaited = false;
    chatbot.failure = answer.status === "failed" ? answer : undefined;
    if (answer.status === "refused") refuse(answer);
    else if (answer.status === "barred") notice.reset();
    else take(answer, chatbot);
    settle();
  };

  /** @param {Record<string, string>} more @param {Chatbot} chatbot */
  const askReply = async (more, chatbot) => {
    chatbot.isAwaited = true;
    chatbot.failure = undefined;
    composer.setBusy(true);
    log.setTyping(true);
    const fields = { position: composer.field("position").value, number: String(chatbot.number), ...more };
    if (chatbot.place) fields.place = String(chatbot.place);
    const answer = await server.retry(replyForm.action, fields, sayLost);
    clearNotice();
    return answer;
  };

  /** @param {Record<string, string>} fields */
  const say = async (fields) => {
    const text = fields.text.trim();
    const turn = log.send(text);
    composer.setBusy(true);
    notice.clear();
    draft.keep({ draft: composer.text, pending: { number: Number(fields.number), text } });
    const answer = await server.retry(form.action, fields, () => {
      turn.lost();
      sayLost();
    });
    clearNotice();
    if (answer.status === "refused" || answer.status === "barred") {
      turn.refused();
      composer.restore(text);
    } else turn.sent();
    draft.keep({ draft: composer.text, pending: null });
    if (answer.status === "barred") return draft.submit(form, form.action);
    const answered = answer.status === "refused" ? chatbots.slice(0, 1) : chatbots;
    return Promise.all(answered.map((chatbot) => follow(answer, chatbot)));
  };

  /** Go on to the rating. @param {string} url */
  const end = async (url) => {
    if (draft.isPending) {
      notice.show(ON_ITS_WAY); // no page after this one would send it
      return server.tryNow();
    }
    const answer = await server.post(url, composer.read());
    warned.value = answer.code === "unsent" ? "yes" : "";
    if (answer.status === "lost") notice.show(LOST_AT_END);
    else if (answer.status === "refused") refuse(answer);
    else if (answer.status === "barred") draft.submit(form, url);
    else draft.leave();
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
    if (button?.hasAttribute("formaction")) end(button.formAction);
    else if (composer.isBusy) notice.remark(BUSY);
    else if (composer.text.trim()) {
      const fields = composer.read();
      composer.clear();
      composer.focus();
      say(fields);
    }
  });
  form.addEventListener("input", () => {
    warned.value = "";
    draft.keepSoon(composer.text);
  });
  replyForm.addEventListener("submit", async (event) => {
    if (server.isBarred) return; // the browser sends it
    event.preventDefault();
    notice.clear();
    composer.focus();
    const failed = chatbots.filter((each) => each.failure);
    for (const each of failed) askReply({ again: "1" }, each).then((answer) => follow(answer, each));
  });
  find('[data-chat-action="connect"]').addEventListener("click", server.tryNow);

  const { draft: typed, notice: words, pending } = draft.found;
  if (typed && !composer.text) composer.fill(typed);
  if (words) notice.show(words);
  if (pending && String(pending.number) === number.value) say({ ...composer.read(), text: pending.text });
  else {
    // Another window's message may have taken its number.
    if (pending && log.textOf(pending.number) !== pending.text) composer.restore(pending.text);
    draft.keep({ draft: composer.text, pending: null });
    for (const each of chatbots) if (each.isAwaited) askReply({}, each).then((answer) => follow(answer, each));
  }
}

// ---
// `<form data-chat-say>`: the box for a message. Enter sends, Shift+Enter begins a new line; on touch screens, whose
// keyboards have no other way to a new line, Enter does that. Counts what is reported of a message when it is sent.

/** @param {number} n */
const counted = (n) => `${n} character${n === 1 ? "" : "s"}`;

/** The characters that are left are counted from here on. */
const NEAR = 500;
const TELEMETRY = ["typed_ms", "n_pastes", "n_pasted_chars", "n_focus_lost"];

/** @param {HTMLFormElement} el */
function mountComposer(el) {
  const box = /** @type {HTMLTextAreaElement} */ (el.elements.namedItem("text"));
  const send = /** @type {HTMLButtonElement} */ (el.querySelector("[data-chat-send]"));
  const counter = /** @type {HTMLElement} */ (el.querySelector("[data-chat-count]"));
  const longest = box.maxLength;
  const isTouch = matchMedia("(hover: none) and (pointer: coarse)");
  /** @type {Record<string, number>} */
  let counts = {};
  /** @type {number | null} */
  let firstKeyAt = null;

  const forget = () => {
    counts = Object.fromEntries(TELEMETRY.map((name) => [name, 0]));
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
    counts.n_pastes += 1;
    counts.n_pasted_chars += event.clipboardData?.getData("text").length ?? 0;
  });
  addEventListener("blur", () => (counts.n_focus_lost += 1));
  addEventListener("resize", refresh);

  /** What the form sends, with the counts of the message. @returns {Record<string, string>} */
  const read = () => {
    if (firstKeyAt !== null) counts.typed_ms = performance.now() - firstKeyAt;
    for (const name of TELEMETRY) field(name).value = String(Math.round(counts[name]));
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

// ---
// What is typed in a chat, kept over a reload in the state of the tab's history, and for another tab in the browser's
// storage, which frames of other sites may lack. (One without an origin has neither: there a reload loses what was not
// sent.) Warns before the page is left.

const PAUSE_MS = 400;
/** Forms after which the chat goes on, where a browser sends them. */
const KEEPING = "[data-chat-reply], [data-chat-change]";

/**
 * `pending` is on its way: the server has it if it has a turn of that number. `notice` is for the page after.
 * @typedef {{ draft?: string, pending?: { number: number, text: string } | null, notice?: string }} Kept
 */

/** @param {HTMLElement} el @param {KeptInBrowser} stored */
function mountDraft(el, stored) {
  const { chatUrl: url, chatPosition: position } = el.dataset;
  /** @type {Kept} */
  let kept = {};
  let isLeaving = false;
  /** @type {number | undefined} */
  let timer;
  const carried = new URLSearchParams(location.hash.slice(1));
  if (history.state?.chat?.position === position) kept = history.state.chat;
  else if (carried.get("position") === position) kept = { draft: carried.get("draft") ?? "" };
  else kept = stored.read() ?? {};

  const write = () => {
    clearTimeout(timer);
    const { draft, pending } = kept;
    if (draft?.trim() || pending) stored.write({ draft, pending });
    else stored.remove();
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
  // As the browser kept it, the page is out of date.
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

// ---
// `[data-chat-log]`: what was said, newest below, and whether the chatbot is writing. Turns are copies of the page's
// templates, so that they look as those that the server wrote.

/** A message that is answered sooner never shows that it is on its way. */
const SHOWN_MS = 600;
const SLACK_PX = 24;

/** @param {HTMLElement} el */
function mountLog(el) {
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
    const last = /** @type {HTMLElement | null} */ (list.lastElementChild);
    const name = turn.dataset.name ?? "";
    if (last && name && (last.dataset.name ?? "") > name) last.before(turn); // B was faster than A
    else list.append(turn);
    follow(turn);
    return turn;
  };

  /** What the worker said as the turn of a number. @param {number} number */
  const textOf = (number) => list.querySelectorAll(".turn-worker [data-chat-text]")[(number - 1) / 2]?.textContent;

  /** @param {boolean} isTyping */
  const setTyping = (isTyping) => {
    if (typing.hidden === !isTyping) return;
    typing.hidden = !isTyping;
    said.textContent = isTyping ? (said.dataset.chatTypingSaid ?? "") : "";
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

  // A worker who sees the end still sees it when there is less room, as under a notice or a keyboard.
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

// ---
// `[data-chat-notice]`: what the worker should know now, and what can be done about it. Its actions are those of the
// page without script, and one to try the connection.

const LOST = "There is no connection. Your message is kept here, and the chat goes on when the connection is back.";
const LOST_AT_END = "There is no connection. Nothing is lost: try again when it is back.";
const BUSY = "The chatbot is still writing. You can send this when its reply is there.";
const ON_ITS_WAY = "Your last message is still on its way. Go on when its reply is there.";

/** @param {HTMLElement} el */
function mountNotice(el) {
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
    /** Say something, but not instead of what can be acted upon. @param {string} text */
    remark(text) {
      if (actions.every((action) => action.hasAttribute("hidden"))) show(text);
    },
    /** Show again what the server wrote. */
    reset: () => show(written, offered, isErrorWritten),
  };
}

// ---
// `<details data-chat-topic>` with a form in which a change of topic is noted: opens as a dialog.

const TOPIC_LOST = "There is no connection. What you filled in stays: save it once the connection is back.";

/** @param {HTMLDetailsElement} el */
export function mountTopic(el) {
  const form = /** @type {HTMLFormElement} */ (el.querySelector("form"));
  const opener = document.createElement("button");
  const dialog = document.createElement("dialog");
  const cancel = /** @type {HTMLElement} */ (form.querySelector("[data-chat-cancel]"));
  const words = /** @type {HTMLElement} */ (form.querySelector("[data-chat-words]"));
  const server = connect(form);

  opener.type = "button";
  opener.className = "button topic-open";
  opener.textContent = el.querySelector("summary")?.textContent ?? "";
  opener.setAttribute("aria-haspopup", "dialog");
  dialog.className = "dialog";
  dialog.setAttribute("aria-labelledby", form.querySelector("h2")?.id ?? "");
  dialog.append(form);
  const wasOpen = el.open;
  el.replaceWith(opener, dialog);
  cancel.hidden = false;

  const open = () => {
    say("");
    dialog.showModal();
  };
  opener.addEventListener("click", open);
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => opener.focus());

  /** @param {string} text */
  const say = (text) => {
    words.textContent = text;
    words.classList.toggle("notice", text !== "");
  };

  /** @param {string} topic */
  const save = (topic) => {
    for (const now of document.querySelectorAll("[data-chat-topic-now]")) now.textContent = topic;
    form.reset();
    dialog.close();
  };

  form.addEventListener("submit", async (event) => {
    if (form.method === "dialog" || server.isBarred) return; // of a preview; or the browser sends it
    event.preventDefault();
    if (form.classList.contains("is-sent")) return;
    form.classList.add("is-sent");
    const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
    const answer = await server.post(form.action, Object.fromEntries(fields));
    form.classList.remove("is-sent");
    if (answer.status === "lost") say(TOPIC_LOST);
    else if (answer.status === "barred") form.requestSubmit();
    else if (answer.isPassed) location.reload();
    else if (answer.status === "refused") say(answer.message ?? "");
    else save(answer.topic ?? "");
  });

  if (wasOpen) dialog.showModal(); // what was refused without script
}
