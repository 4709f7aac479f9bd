// @ts-check
// `[data-chat]`: a worker's chat. Says what the worker says, waits for replies, goes on to the rating; never loses what
// was typed. The server alone knows how the chat stands; where the page and it differ, the page is loaded again.
import { mount as mountComposer } from "./chat_composer.js";
import { mount as mountDraft } from "./chat_draft.js";
import { mount as mountLine } from "./chat_line.js";
import { mount as mountLog } from "./chat_log.js";
import { BUSY, LOST, LOST_AT_END, mount as mountNotice, ON_ITS_WAY } from "./chat_notice.js";

/** @typedef {import("./chat_line.js").Answer} Answer */

/** @param {HTMLElement} el */
export function mount(el) {
  /** @param {string} selector */
  const find = (selector) => /** @type {HTMLElement} */ (el.querySelector(selector));
  const form = /** @type {HTMLFormElement} */ (find("form[data-chat-say]"));
  const replyForm = /** @type {HTMLFormElement} */ (find("form[data-chat-reply]"));
  const inputs = /** @type {HTMLProgressElement} */ (find("[data-chat-inputs] progress"));
  const log = mountLog(find("[data-chat-log]"));
  const notice = mountNotice(find("[data-chat-notice]"));
  const composer = mountComposer(form);
  const draft = mountDraft(el);
  const line = mountLine(el);
  const number = composer.field("number"), warned = composer.field("warned");

  const sayLost = () => {
    log.setTyping(false);
    notice.show(LOST, ["connect"]);
  };
  const settle = () => notice.clear() && composer.focus();

  /** Show how the chat stands. @param {Answer} answer */
  const take = (answer) => {
    number.value = String(answer.number);
    inputs.value = answer.n_inputs ?? 0;
    find("[data-chat-inputs] span").textContent = answer.progress ?? "";
    form.classList.toggle("is-full", answer.is_full ?? false);
    for (const turn of answer.turns ?? []) log.add(turn.by, turn.text);
  };

  /** Say why something was refused; load the page again if it is not how things stand. @param {Answer} answer */
  const refuse = (answer) => {
    if (answer.isPassed) {
      draft.keep({ draft: composer.text, pending: null, notice: answer.message });
      draft.reload();
    } else notice.show(answer.message ?? "", [], true);
  };

  /** Ask for the reply until there is one or it is given up. @param {Answer} answer */
  const follow = async (answer) => {
    while (answer.status === "waiting") {
      take(answer);
      log.setTyping(true);
      await line.rest(answer.wait_ms ?? 0);
      answer = await askReply({});
    }
    log.setTyping(false);
    composer.setBusy(answer.status === "failed");
    if (answer.status === "refused") refuse(answer);
    else if (answer.status === "barred") notice.reset();
    else take(answer);
    if (answer.status === "failed") notice.show(answer.message ?? "", answer.can_leave ? ["reply", "leave"] : ["reply"]);
  };

  /** @param {Record<string, string>} more */
  const askReply = async (more) => {
    composer.setBusy(true);
    log.setTyping(true);
    const fields = { position: composer.field("position").value, number: number.value, ...more };
    const answer = await line.insist(replyForm.action, fields, sayLost);
    settle();
    return answer;
  };

  /** @param {Record<string, string>} fields */
  const say = async (fields) => {
    const text = fields.text.trim();
    const turn = log.send(text);
    composer.setBusy(true);
    notice.clear();
    draft.keep({ draft: composer.text, pending: { number: Number(fields.number), text } });
    const answer = await line.insist(form.action, fields, () => {
      turn.lost();
      sayLost();
    });
    settle();
    if (answer.status === "refused" || answer.status === "barred") {
      turn.refused();
      composer.restore(text);
    } else turn.sent();
    draft.keep({ draft: composer.text, pending: null });
    if (answer.status !== "barred") return follow(answer);
    draft.submit(form, form.action);
  };

  /** Go on to the rating. @param {string} url */
  const end = async (url) => {
    if (draft.isPending) {
      notice.show(ON_ITS_WAY); // no page after this one would send it
      return line.tryNow();
    }
    const answer = await line.post(url, composer.read());
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
    if (line.isBarred) return; // the browser sends it
    event.preventDefault();
    notice.clear();
    composer.focus();
    follow(await askReply({ again: "1" }));
  });
  find('[data-chat-action="connect"]').addEventListener("click", line.tryNow);

  const { draft: typed, notice: words, pending } = draft.found;
  if (typed && !composer.text) composer.fill(typed);
  if (words) notice.show(words);
  if (pending && String(pending.number) === number.value) say({ ...composer.read(), text: pending.text });
  else {
    // Another window's message may have taken its number.
    if (pending && log.textOf(pending.number) !== pending.text) composer.restore(pending.text);
    draft.keep({ draft: composer.text, pending: null });
    if (el.hasAttribute("data-chat-awaits")) askReply({}).then(follow);
  }
}
