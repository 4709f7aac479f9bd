// @ts-check
// The behaviours of the worker pages; the only script such a page names, apart from its theme.
import { mount as copy } from "./copy.js";
import { mount as once } from "./once.js";
import { mount as online } from "./online.js";
import { mount as rating } from "./rating.js";
import { mount as slider } from "./slider.js";

/** @type {[string, (el: any) => void][]} */
const BEHAVIOURS = [
  ["[data-slider]", slider],
  ["form[data-rating]", rating],
  ["form[data-online]", online], // before what takes a form for sent
  ["form[data-once]", once],
  ["button[data-copy], button[data-copy-from]", copy],
];

for (const [selector, mount] of BEHAVIOURS) {
  for (const el of document.querySelectorAll(selector)) mount(el);
}

// What chats alone need is fetched by their pages alone.
for (const el of document.querySelectorAll("[data-chat]")) import("./chat.js").then(({ mount }) => mount(el));
for (const el of document.querySelectorAll("[data-chat-topic]")) import("./chat_topic.js").then(({ mount }) => mount(el));
