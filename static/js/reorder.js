// @ts-check
// `[data-reorder][data-url]` with children `[data-reorder-item="id"]`: its buttons `name="step"` (-1 up, 1 down) move an
// item without a new page, and a handle drags it. The new order is posted as `order=id…`; a refusal shows the page as the
// server has it. Without script the buttons send their forms.

/** @param {HTMLElement} el */
export function mount(el) {
  const status = document.createElement("p");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  el.after(status);
  const items = () => /** @type {HTMLElement[]} */ ([...el.querySelectorAll(":scope > [data-reorder-item]")]);
  const ids = () => items().map((item) => item.dataset.reorderItem ?? "");

  /** Let the first not go up, nor the last down. */
  const mark = () => {
    const all = items();
    for (const [place, item] of all.entries()) {
      for (const button of item.querySelectorAll("button[name=step]")) {
        if (!(button instanceof HTMLButtonElement)) continue;
        button.disabled = button.value === "-1" ? place === 0 : place === all.length - 1;
      }
    }
  };

  const save = async () => {
    const token = el.querySelector("[name=csrfmiddlewaretoken]");
    const body = new URLSearchParams(ids().map((id) => ["order", id]));
    if (token instanceof HTMLInputElement) body.set("csrfmiddlewaretoken", token.value);
    try {
      const response = await fetch(el.dataset.url ?? "", { method: "POST", headers: { "X-Autosave": "1" }, body });
      if (response.status !== 204) location.reload();
    } catch {
      location.reload();
    }
  };

  /** @param {HTMLElement} item */
  const moved = (item) => {
    mark();
    const all = items();
    status.textContent = `Moved to place ${all.indexOf(item) + 1} of ${all.length}`;
    save();
  };

  el.addEventListener("submit", (event) => {
    const button = event.submitter;
    const item = /** @type {HTMLElement | null} */ (button?.closest("[data-reorder-item]"));
    if (!(button instanceof HTMLButtonElement) || button.name !== "step" || !item) return;
    event.preventDefault();
    if (button.value === "-1") item.previousElementSibling?.before(item);
    else item.nextElementSibling?.after(item);
    moved(item);
    const other = /** @type {HTMLElement | null} */ (item.querySelector("button[name=step]:enabled"));
    (button.disabled ? other : button)?.focus();
  });

  /** @type {HTMLElement | null} */
  let dragged = null;
  let before = "";
  for (const item of items()) {
    const handle = document.createElement("span");
    handle.className = "reorder-handle";
    handle.draggable = true;
    handle.title = "Drag to another place";
    handle.textContent = "⠿";
    handle.setAttribute("aria-hidden", "true");
    item.prepend(handle);
    handle.addEventListener("dragstart", (event) => {
      dragged = item;
      before = ids().join();
      item.classList.add("is-dragged");
      event.dataTransfer?.setData("text/plain", item.dataset.reorderItem ?? "");
      event.dataTransfer?.setDragImage(item, 0, 0);
    });
    handle.addEventListener("dragend", () => {
      item.classList.remove("is-dragged");
      dragged = null;
      if (ids().join() !== before) moved(item);
    });
  }
  el.addEventListener("dragover", (event) => {
    const over = event.target instanceof Element ? event.target.closest("[data-reorder-item]") : null;
    if (!dragged || !over || over.parentElement !== el) return;
    event.preventDefault();
    if (over === dragged) return;
    const { top, height } = over.getBoundingClientRect();
    event.clientY < top + height / 2 ? over.before(dragged) : over.after(dragged);
  });
  el.addEventListener("drop", (event) => dragged && event.preventDefault());
}
