// @ts-check
// `[data-autosave]`: when the form was saved (event "saved", whose detail are selectors), fetches the page and puts what
// it shows now in the place of the elements that these selectors name.

/** @param {string} selectors */
async function reload(selectors) {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const selector of selectors.split(",")) {
    const ours = document.querySelector(selector);
    const theirs = page.querySelector(selector);
    if (!ours || !theirs) continue;
    const fresh = document.adoptNode(theirs);
    ours.replaceWith(fresh);
    fresh.dispatchEvent(new CustomEvent("content-replaced", { bubbles: true }));
  }
}

/** @param {HTMLElement} el */
export function mount(el) {
  // What is shown stays as it was if the connection breaks: the next save brings it up to date.
  el.addEventListener("saved", (event) => reload(/** @type {CustomEvent<string>} */ (event).detail).catch(() => {}));
}
