// @ts-check
// `<form data-autosave>`: each field that changes is posted alone (header `X-Autosave: 1`) a moment later, or when it is
// left; `[data-autosave-button]`, the way without script, is hidden, and a line beside it says how saving goes. The
// server answers `{saved, errors: {field: [text]}, reload}`; `reload` goes with the event "saved", which names what of the page to bring up to date. What
// could not be sent is tried again. What is unsaved when the page is left is sent then; only where that cannot be, the
// browser asks.

const PAUSE_MS = 600;
const RETRY_MS = 2000;
const MAX_RETRY_MS = 30_000;
// What browsers send after the page has gone.
const KEEPALIVE_CHARS = 20_000;

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** @param {Field} field */
function valueOf(field) {
  return field instanceof HTMLInputElement && field.type === "checkbox" ? String(field.checked) : field.value;
}

/** Return the fields that somebody changed before this script was there; a reload brings back older values, too. @param {HTMLFormElement} form */
function earlyChanges(form) {
  const [navigation] = performance.getEntriesByType("navigation");
  if (navigation instanceof PerformanceNavigationTiming && navigation.type !== "navigate") return [];
  return [...form.elements].filter((field) => {
    if (field instanceof HTMLSelectElement) {
      const first = [...field.options].findIndex((option) => option.defaultSelected);
      return field.selectedIndex !== Math.max(0, first);
    }
    if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
    if (!(field instanceof HTMLInputElement) || field.type === "hidden") return false;
    if (field.type === "radio") return field.checked && !field.defaultChecked;
    return field.type === "checkbox" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  });
}

/** The token as it is now: signing in again in another tab changes it. @param {HTMLFormElement} form */
function tokenOf(form) {
  const field = form.elements.namedItem("csrfmiddlewaretoken");
  return /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? (field instanceof HTMLInputElement ? field.value : "");
}

/** Show the errors of a field, or none. @param {Field} field @param {string[]} errors */
function showErrors(field, errors) {
  const box = field.closest(".field") ?? field.parentElement;
  const old = box?.querySelector(".field-errors");
  if (!errors.length) {
    field.removeAttribute("aria-invalid");
    return old?.remove();
  }
  field.setAttribute("aria-invalid", "true");
  const list = document.createElement("ul");
  list.className = "field-errors";
  list.append(...errors.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  old ? old.replaceWith(list) : box?.append(list);
}

/** @param {HTMLFormElement} el */
export function mount(el) {
  /** What is not saved yet, by name, oldest first. @type {Map<string, {field: Field, value: string}>} */
  const unsaved = new Map();
  /** Why the server refused values, by name: not sent again until they change. @type {Map<string, string[]>} */
  const refused = new Map();
  let isSending = false;
  let failures = 0;
  /** @type {number | undefined} */
  let timer;

  const status = document.createElement("p");
  status.className = "saving-status";
  status.setAttribute("role", "status");
  const button = el.querySelector("[data-autosave-button]");
  button?.setAttribute("hidden", "");
  button ? button.after(status) : el.append(status);

  /** @param {string} text @param {boolean} [isBad] */
  const say = (text, isBad = false) => {
    status.textContent = text;
    status.classList.toggle("is-bad", isBad);
  };

  const next = () => [...unsaved].find(([name]) => !refused.has(name));

  /** @param {string} name @param {string} value */
  const post = (name, value) => {
    const body = new URLSearchParams({ csrfmiddlewaretoken: tokenOf(el), [name]: value });
    const headers = { "X-Autosave": "1", Accept: "application/json" };
    const keepalive = value.length < KEEPALIVE_CHARS;
    return fetch(el.getAttribute("action") || location.href, { method: "POST", headers, body, keepalive });
  };

  /** @param {number} wait */
  const later = (wait) => {
    clearTimeout(timer);
    timer = setTimeout(send, wait);
  };

  async function send() {
    clearTimeout(timer);
    const entry = next();
    if (isSending || !entry || !el.isConnected) return;
    const [name, { field, value }] = entry;
    isSending = true;
    if (!failures) say("Saving…");
    try {
      const response = await post(name, value);
      if (response.status >= 500) throw new Error(`HTTP ${response.status}`);
      if (!response.headers.get("Content-Type")?.includes("json")) {
        failures += 1;
        say("Not saved: you may have been signed out. Sign in in another tab; this page goes on trying.", true);
        return;
      }
      const answer = await response.json();
      failures = 0;
      if (unsaved.get(name)?.value !== value) return; // it has changed meanwhile: the next post has it
      showErrors(field, answer.errors[name] ?? []);
      if (answer.saved) {
        unsaved.delete(name);
        if (answer.reload) el.dispatchEvent(new CustomEvent("saved", { detail: answer.reload }));
      } else refused.set(name, Object.values(answer.errors).flat());
      if (refused.size) say(`Not saved: ${[...refused.values()].flat().join(" ")}`, true);
      else if (!unsaved.size) say("Saved");
    } catch {
      failures += 1;
      say("No connection: will try again", true);
    } finally {
      isSending = false;
      if (next()) later(failures ? Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (failures - 1)) : 0);
    }
  }

  /** @param {{target: EventTarget | null}} event @param {number} wait */
  const changed = ({ target }, wait) => {
    const field = /** @type {Field | null} */ (target);
    if (!field?.name || field.form !== el) return;
    unsaved.set(field.name, { field, value: valueOf(field) });
    refused.delete(field.name);
    later(wait);
  };

  el.addEventListener("input", (event) => changed(event, PAUSE_MS));
  el.addEventListener("change", (event) => changed(event, 0));
  el.addEventListener("focusout", () => !failures && send());
  el.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  for (const field of earlyChanges(el)) changed({ target: field }, PAUSE_MS);
  addEventListener("online", send);
  addEventListener("beforeunload", (event) => {
    if (!el.isConnected) return;
    const waiting = [...unsaved].filter(([name]) => !refused.has(name));
    const isLost = failures || refused.size || waiting.some(([, { value }]) => value.length >= KEEPALIVE_CHARS);
    if (isLost) event.preventDefault();
    else for (const [name, { value }] of waiting) post(name, value).catch(() => {});
  });
}

// ---
// `[data-autosave]`: when the form was saved (event "saved", whose detail are selectors), fetches the page and puts what
// it shows now instead of the elements that these selectors name.

/** Wait while something in an element is being pressed: what is replaced before it is released gets no click. @param {string} selector */
async function untilReleased(selector) {
  if (!document.querySelector(`${selector}:active`)) return;
  await new Promise((resolve) => {
    for (const type of ["pointerup", "pointercancel", "keyup"]) addEventListener(type, () => setTimeout(resolve), { once: true });
  });
}

// Of two pages on their way, the one that was asked for first may come last: it is older than what is shown.
let nReloads = 0;
/** Which reload each selector shows. @type {Map<string, number>} */
const shown = new Map();

/** @param {string} selectors */
async function reload(selectors) {
  const own = ++nReloads;
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const selector of selectors.split(",")) {
    await untilReleased(selector);
    const ours = document.querySelector(selector);
    const theirs = page.querySelector(selector);
    if (!ours || !theirs || (shown.get(selector) ?? 0) > own) continue;
    shown.set(selector, own);
    const fresh = document.adoptNode(theirs);
    ours.replaceWith(fresh);
    fresh.dispatchEvent(new CustomEvent("content-replaced", { bubbles: true }));
  }
}

/** @param {HTMLElement} el */
export function mountReload(el) {
  // What is shown stays as it was if the connection breaks: the next save brings it up to date.
  el.addEventListener("saved", (event) => reload(/** @type {CustomEvent<string>} */ (event).detail).catch(() => {}));
}
