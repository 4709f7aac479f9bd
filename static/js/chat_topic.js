// @ts-check
// `<details data-chat-topic>` with a form in which a change of topic is noted: opens as a dialog.
import { mount as mountLine } from "./chat_line.js";

const LOST = "There is no connection. What you filled in stays: save it once the connection is back.";

/** @param {HTMLDetailsElement} el */
export function mount(el) {
  const form = /** @type {HTMLFormElement} */ (el.querySelector("form"));
  const opener = document.createElement("button");
  const dialog = document.createElement("dialog");
  const cancel = /** @type {HTMLElement} */ (form.querySelector("[data-chat-cancel]"));
  const words = /** @type {HTMLElement} */ (form.querySelector("[data-chat-words]"));
  const line = mountLine(form);

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
    if (form.method === "dialog" || line.isBarred) return; // of a preview; or the browser sends it
    event.preventDefault();
    if (form.classList.contains("is-sent")) return;
    form.classList.add("is-sent");
    const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
    const answer = await line.post(form.action, Object.fromEntries(fields));
    form.classList.remove("is-sent");
    if (answer.status === "lost") say(LOST);
    else if (answer.status === "barred") form.requestSubmit();
    else if (answer.isPassed) location.reload();
    else if (answer.status === "refused") say(answer.message ?? "");
    else save(answer.topic ?? "");
  });

  if (wasOpen) dialog.showModal(); // what was refused without script
}
