// @ts-check
// `<form data-online>`: while there is no connection it is not sent, so that what is filled in stays, and says so in its
// `[data-online-notice]`. With `data-kept-fields` that is there again after a reload, too. With `data-carries-kept` it leads to
// this page in another form: what only the history of this page keeps is taken along in the name of the window, which lasts
// over pages.

/** @param {HTMLFormElement} el @param {() => { read(): any, write(value: object): void }} openKept */
export function mount(el, openKept) {
  const notice = el.querySelector("[data-online-notice]");
  const hold = (/** @type {Event} */ event) => {
    if (navigator.onLine) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    notice?.removeAttribute("hidden");
  };
  el.addEventListener("submit", hold, true); // before what takes a form for sent
  addEventListener("online", () => notice?.setAttribute("hidden", ""));
  if (el.hasAttribute("data-carries-kept")) el.addEventListener("submit", carry);
  if (!el.hasAttribute("data-kept-fields")) return;

  const kept = openKept();
  const found = kept.read() ?? {};
  const keep = () => kept.write(Object.fromEntries(new FormData(el)));
  for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (el.querySelectorAll("[name]:not([type=hidden])"))) {
    const value = found[field.name] ?? "";
    if (field.type === "radio") field.checked ||= field.value === value;
    else if (field.value === field.defaultValue) field.value ||= value;
    else keep(); // keys that were quicker than this script
  }
  el.addEventListener("input", keep);
}

function carry() {
  const [, others = "{}"] = /^evalsite-kept (.*)/s.exec(self.name) ?? [], { kept } = history.state ?? {};
  if (kept) self.name = `evalsite-kept ${JSON.stringify({ ...JSON.parse(others), kept })}`;
}
