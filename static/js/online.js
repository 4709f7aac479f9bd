// @ts-check
// `<form data-online>`: while there is no connection it is not sent, so that what is filled in stays, and says so in
// its `[data-online-notice]`.

/** @param {HTMLFormElement} el */
export function mount(el) {
  const notice = el.querySelector("[data-online-notice]");
  el.addEventListener("submit", (event) => {
    if (navigator.onLine) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    notice?.removeAttribute("hidden");
  });
  addEventListener("online", () => notice?.setAttribute("hidden", ""));
}
