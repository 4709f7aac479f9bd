// @ts-check
// `<form data-once>`: sent once, however often its button is pressed. Also takes a page that the browser kept from
// before, when somebody goes back to it, to what the server shows now.

const GIVE_UP_MS = 10_000;

/** @param {HTMLFormElement} el */
export function mount(el) {
  let isSent = false;
  el.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
    el.classList.add("is-sent");
    // Where the connection is lost without a word, let them try again: the server takes nothing twice.
    setTimeout(() => {
      isSent = false;
      el.classList.remove("is-sent");
    }, GIVE_UP_MS);
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
