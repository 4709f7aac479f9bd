// @ts-check
// The behaviours of the worker pages; the only script such a page names, apart from its theme.
import { mount as copy } from "./copy.js";
import { mount as rating, mountSlider } from "./rating.js";

/** @type {[string, (el: any) => void][]} */
const BEHAVIOURS = [
  ["[data-slider]", mountSlider],
  ["form[data-rating]", rating],
  ["form[data-online]", mountOnline], // before what takes a form for sent
  ["form[data-once]", mountOnce],
  ["button[data-copy], button[data-copy-from]", copy],
];

for (const [selector, mount] of BEHAVIOURS) {
  for (const el of document.querySelectorAll(selector)) mount(el);
}

// What chats alone need is fetched by their pages alone.
for (const el of document.querySelectorAll("[data-chat]")) import("./chat.js").then(({ mount }) => mount(el));
for (const el of document.querySelectorAll("[data-chat-topic]")) import("./chat.js").then(({ mountTopic }) => mountTopic(el));

// ---
// `<form data-online>`: while there is no connection it is not sent, so that what is filled in stays, and says so in
// its `[data-online-notice]`.

/** @param {HTMLFormElement} el */
function mountOnline(el) {
  const notice = el.querySelector("[data-online-notice]");
  el.addEventListener("submit", (event) => {
    if (navigator.onLine) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    notice?.removeAttribute("hidden");
  });
  addEventListener("online", () => notice?.setAttribute("hidden", ""));
}

// ---
// `<form data-once>`: sent once, however often its button is pressed. Also takes a page that the browser kept from
// before, when somebody goes back to it, to what the server shows now.

/** @param {HTMLFormElement} el */
function mountOnce(el) {
  let isSent = false;
  el.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
    el.classList.add("is-sent");
    // Where the connection is lost without a word, let them try again: the server takes nothing twice.
    setTimeout(() => {
      isSent = false;
      el.classList.remove("is-sent");
    }, 10_000);
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
