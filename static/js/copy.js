// @ts-check
// `<button type="button" data-copy="text">` or `data-copy-from="#id-of-element"`: copies, and says so.

/** Copy without the clipboard interface, which plain http pages do not have. @param {string} text */
function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

/** @param {HTMLButtonElement} el */
export function mount(el) {
  const label = el.textContent;
  const status = document.createElement("span");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  el.after(status);
  /** @type {number | undefined} */
  let timer;

  el.addEventListener("click", async () => {
    const source = el.dataset.copyFrom ? document.querySelector(el.dataset.copyFrom) : null;
    const text = el.dataset.copy ?? (source instanceof HTMLInputElement ? source.value : source?.textContent?.trim()) ?? "";
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      done = copyBySelection(text);
      el.focus();
    }
    el.textContent = status.textContent = done ? "Copied" : "Copying was refused by the browser";
    clearTimeout(timer);
    timer = setTimeout(() => {
      el.textContent = label;
      status.textContent = "";
    }, 2000);
  });
}

/** `<a href="#id" data-copy-link>`: leads there, and copies the address of that place. @param {HTMLAnchorElement} el */
export function mountLink(el) {
  const status = document.createElement("span");
  status.className = "anchor-status";
  status.setAttribute("role", "status");
  el.after(status);
  el.addEventListener("click", async () => {
    const done = await navigator.clipboard?.writeText(el.href).then(() => true, () => false) || copyBySelection(el.href);
    if (!done) return;
    status.textContent = "Link copied";
    setTimeout(() => (status.textContent = ""), 2000);
  });
}
