// @ts-check
// `<form method="get" data-choose="#cards">`: whatever is chosen or typed, the part of the page that the selector names is
// fetched anew, and its heading is said in `[data-choose-status]`; `[data-autosubmit-button]`, the way without script, is
// hidden.

const PAUSE_MS = 150;

/** @param {HTMLFormElement} el */
export function mount(el) {
  const selector = el.dataset.choose ?? "";
  let timer = 0;
  let latest = "";
  for (const button of el.querySelectorAll("[data-autosubmit-button]")) button.setAttribute("hidden", "");

  const show = async () => {
    const chosen = new URLSearchParams(/** @type {any} */ (new FormData(el)));
    const url = `${location.pathname}?${chosen}`;
    latest = url;
    const answer = await fetch(url).catch(() => null);
    if (!answer?.ok || latest !== url) return; // nothing came, or something else was chosen meanwhile
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [ours, theirs] = [document.querySelector(selector), page.querySelector(selector)];
    if (!ours || !theirs || latest !== url) return;
    ours.replaceChildren(...theirs.childNodes);
    const status = el.querySelector("[data-choose-status]");
    if (status) status.textContent = document.querySelector(`${selector} h2`)?.textContent ?? "";
    history.replaceState(history.state, "", url);
  };
  const soon = (/** @type {number} */ pause) => {
    clearTimeout(timer);
    timer = setTimeout(show, pause);
  };

  el.addEventListener("input", (event) => {
    const field = event.target;
    if (field instanceof HTMLInputElement && field.form === el) soon(field.type === "search" ? PAUSE_MS : 0);
  });
  el.addEventListener("submit", (event) => {
    event.preventDefault();
    soon(0);
  });
}
