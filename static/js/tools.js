// @ts-check
// What comes once an item is there: the time that is left, beside the progress; below the item, where they are not in the
// way of Tab, how to read (reading.js) and the keys (keys.js). `<html data-reading>` names the style sheet.

import { mount as mountKeys } from "./keys.js";
import { make } from "./elements.js";

const FEWEST_TIMED = 5, MOST_TIMED = 20, FEWEST_CHATS = 2; // a HIT has few chats, and each takes minutes

/** What later pages read, too: in the browser's storage or, where a frame may not use that, in the name of its window. */
const lasting = {
  /** @param {string} key */
  read(key) {
    try {
      return JSON.parse(localStorage.getItem(key) ?? "null");
    } catch {
      return readName()[key] ?? null;
    }
  },
  /** @param {string} key @param {any} value */
  write(key, value) {
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      self.name = `evalsite-kept ${JSON.stringify({ ...readName(), [key]: value })}`;
    }
  },
};

/** @returns {Record<string, any>} */
function readName() {
  const [, kept = "{}"] = /^evalsite-kept (.*)/s.exec(self.name) ?? [];
  return JSON.parse(kept);
}

/** @param {(part?: string) => string} nameKept how the browser calls what it keeps of this assignment */
export function mount(nameKept) {
  forgetOthers(nameKept);
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-rating]"));
  const row = document.querySelector(".rate-head-row"), place = document.querySelector(".leave") ?? form?.parentElement;
  if (!row || !place) return;
  const left = make("span", { class: "time-left" });
  if (document.documentElement.hasAttribute("data-has-chats")) left.textContent = timeLeftOfChats(nameKept("pace"));
  else if (form) left.textContent = timeLeft(form, nameKept("pace"));
  const tools = make("span", { class: "rate-tools" });
  tools.append(button("Reading", () => import("./reading.js").then(({ mount }) => mount(lasting))));
  const keys = form && mountKeys(form, lasting);
  if (keys) tools.append(button("Keys", keys.show, "tools-keys"));
  addStyle(() => {
    row.append(left);
    place.append(tools);
    keys?.note();
  });
}

/** Drop what the server has, as it shows what comes after it; and what nobody came back to for a week.
 * @param {(part?: string) => string} nameKept */
function forgetOthers(nameKept) {
  if (!document.querySelector("main[data-kept]")) return;
  const here = nameKept(), mine = nameKept(""), oldest = Date.now() - 7 * 86_400_000;
  const wanted = here === mine ? [] : [here, nameKept("pace")];
  try {
    for (const key of Object.keys(localStorage).filter((key) => key.startsWith("evalsite-kept ") && !wanted.includes(key))) {
      if (key.startsWith(mine) || !(JSON.parse(localStorage[key]).at > oldest)) localStorage.removeItem(key);
    }
  } catch {
    // Refused: then nothing is there.
  }
}

/** @param {string} text @param {() => void} act @param {string} more classes */
function button(text, act, more = "") {
  const made = make("button", { type: "button", class: more }, text);
  made.addEventListener("click", act);
  return made;
}

/** @param {() => void} then */
function addStyle(then) {
  const [, href = ""] = /href="([^"]+)"/.exec(document.documentElement.dataset.reading ?? "") ?? [];
  if (document.querySelector(`link[href="${href}"]`)) return then();
  const link = make("link", { rel: "stylesheet", href });
  link.addEventListener("load", then);
  document.head.append(link);
}

// ---
// The time left, by the median of the items so far, so that a break does not count. This browser alone knows their times.

/** Return the time that the rest takes, in words, and note that of this item once it is sent.
 * @param {HTMLFormElement} form @param {string} key */
function timeLeft(form, key) {
  /** @type {[number, number][]} of each position, the newest last, the time in ms */
  const pace = lasting.read(key)?.value ?? [];
  const field = (/** @type {string} */ name) => Number(/** @type {HTMLInputElement | null} */ (form.elements.namedItem(name))?.value);
  const position = field("position");
  form.addEventListener("submit", ({ defaultPrevented, submitter }) => {
    if (defaultPrevented || !position || submitter?.hasAttribute("data-rating-draft")) return;
    const others = pace.filter(([other]) => other !== position);
    lasting.write(key, { value: [...others, [position, field("shown_ms")]].slice(-MOST_TIMED), at: Date.now() });
  });
  const progress = document.querySelector("progress"), times = pace.map(([, ms]) => ms).sort((a, b) => a - b);
  if (!progress || times.length < FEWEST_TIMED) return "";
  return wordTime(((progress.max - progress.value) * times[Math.floor(times.length / 2)]) / 60_000);
}

/** The same where an item is a chat: from when its first page shows to when the next one's does.
 * @param {string} key */
function timeLeftOfChats(key) {
  const progress = document.querySelector("progress");
  if (!progress || !document.querySelector("main[data-kept]")) return "";
  /** @type {[number, number][]} of each chat its place, and when it began */
  const begun = lasting.read(key)?.value ?? [];
  const now = Date.now(), place = progress.value + 1;
  if (!begun.some(([other]) => other === place)) begun.push([place, now]);
  lasting.write(key, { value: begun, at: now });
  const times = begun.slice(1).map(([, at], k) => at - begun[k][1]).sort((a, b) => a - b);
  if (times.length < FEWEST_CHATS) return "";
  const spent = now - (begun.find(([other]) => other === place)?.[1] ?? now);
  return wordTime(Math.max((progress.max - progress.value) * times[Math.floor(times.length / 2)] - spent, 0) / 60_000);
}

/** @param {number} minutes */
function wordTime(minutes) {
  if (minutes < 1) return "less than a minute left";
  const isLong = minutes >= 90, n = Math.round(isLong ? minutes / 60 : minutes);
  return `about ${n} ${isLong ? "hour" : "minute"}${n === 1 ? "" : "s"} left`;
}
