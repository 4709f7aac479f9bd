// @ts-check
// `<button data-commands="address">`: opens the command menu, as Ctrl-K does everywhere: pages, campaigns, sections of
// the guides (what the address answers, asked for once), and the buttons and links of this page. A dialog with a combobox: the
// focus stays in the field, arrow keys choose, Enter goes there.

import { make } from "./elements.js";

const MOST_SHOWN = 12;

/** @typedef {{group: string, title: string, url?: string, element?: HTMLElement}} Command */

/** @returns {Command[]} */
function actionsOfPage() {
  const found = /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll(".page-actions a, .page-actions button, main .btn")
  );
  const titles = new Set();
  return [...found].flatMap((element) => {
    const title = (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().replace(/\s+/g, " ");
    if (!title || titles.has(title) || !element.checkVisibility() || element.matches(":disabled")) return [];
    titles.add(title);
    return [{ group: "On this page", title, element }];
  });
}

/** Return the commands that have every word, those that begin with what was typed first. @param {Command[]} commands @param {string} typed */
function matching(commands, typed) {
  const wanted = typed.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = commands.filter(({ group, title }) => {
    const text = `${title} ${group}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const begins = (/** @type {Command} */ each) => Number(each.title.toLowerCase().startsWith(wanted));
  return found.sort((a, b) => begins(b) - begins(a)).slice(0, MOST_SHOWN);
}

/** @param {HTMLButtonElement} el */
export function mount(el) {
  const dialog = make("dialog", { class: "dialog commands", "aria-label": "Go to" });
  const field = make("input", {
    ...{ type: "text", role: "combobox", "aria-expanded": "true", "aria-autocomplete": "list", autocomplete: "off" },
    ...{ "aria-controls": "commands-list", "aria-label": "Page, campaign, help or action", spellcheck: "false" },
    placeholder: "Page, campaign, help or action",
  });
  const list = make("ul", { class: "commands-list", id: "commands-list", role: "listbox", "aria-label": "Found" });
  const status = make("p", { class: "visually-hidden", role: "status" });
  const head = make("div", { class: "commands-head field-control" });
  const close = make("button", { type: "button", class: "btn btn-sm btn-secondary" }, "Close");
  head.append(field, close);
  dialog.append(head, list, status);
  /** @type {Command[]} */
  let fetched = [];
  /** @type {Command[]} */
  let shown = [];
  let chosen = 0;
  let hasFetched = false;

  const choose = (/** @type {number} */ place) => {
    chosen = shown.length ? (place + shown.length) % shown.length : 0;
    [...list.children].forEach((each, k) => each.setAttribute("aria-selected", String(k === chosen)));
    const current = list.children[chosen];
    field.setAttribute("aria-activedescendant", current?.id ?? "");
    current?.scrollIntoView({ block: "nearest" });
  };

  const show = () => {
    shown = matching([...actionsOfPage(), ...fetched], field.value);
    list.replaceChildren(
      ...shown.map(({ group, title }, k) => {
        const item = make("li", { class: "command", role: "option", id: `command-${k}` });
        item.append(make("bdi", {}, title), " ", make("span", { class: "command-group" }, group));
        item.addEventListener("click", () => go(k));
        return item;
      }),
    );
    status.textContent = shown.length ? `${shown.length} found` : "Nothing found";
    choose(0);
  };

  const go = (/** @type {number} */ place) => {
    const command = shown[place];
    if (!command) return;
    dialog.close();
    if (command.url) location.assign(command.url);
    else if (command.element) {
      command.element.focus();
      command.element.click();
    }
  };

  const open = async () => {
    if (!dialog.isConnected) document.body.append(dialog);
    field.value = "";
    dialog.showModal();
    show();
    if (hasFetched) return;
    hasFetched = true;
    try {
      const answer = await fetch(el.dataset.commands ?? "", { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      fetched = (await answer.json()).commands;
      show();
    } catch {
      hasFetched = false;
      status.textContent = "Only what is on this page: the rest could not be loaded.";
    }
  };

  field.addEventListener("input", show);
  dialog.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // Enter and arrows are of the candidates
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (to !== undefined) choose(to);
    else if (event.key === "Enter" && event.target === field) go(chosen);
    else return;
    event.preventDefault();
  });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  el.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.repeat || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else if (!document.querySelector("dialog[open]")) open();
  });
}
