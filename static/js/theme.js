// @ts-check
// The theme: auto, light or dark. A plain script in the head, so that no page is first drawn in the wrong one.
// Buttons: `[data-theme-set="auto|light|dark"]` inside a `[data-theme-switch]`, hidden until this runs.
{
  const KEY = "evalsite-theme";
  const CHOICES = ["auto", "light", "dark"];
  const system = matchMedia("(prefers-color-scheme: dark)");
  let choice = "auto";

  /** Set the theme on the page and mark the button of the choice. */
  const apply = () => {
    document.documentElement.dataset.theme = choice === "auto" ? (system.matches ? "dark" : "light") : choice;
    for (const button of document.querySelectorAll("[data-theme-set]")) {
      button.setAttribute("aria-pressed", String(button.getAttribute("data-theme-set") === choice));
    }
    for (const group of document.querySelectorAll("[data-theme-switch]")) group.removeAttribute("hidden");
  };

  /** Take a choice over; anything unknown is auto. @param {string | null} value */
  const choose = (value) => {
    choice = value && CHOICES.includes(value) ? value : "auto";
    apply();
  };

  let stored = null;
  try {
    stored = localStorage.getItem(KEY);
  } catch {
    // Storage is refused in some private windows: the system's theme will do.
  }
  choose(stored);
  document.documentElement.dataset.scripts = "on"; // for what style sheets hide until a script shows it

  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", apply);
  addEventListener("storage", (event) => {
    if (event.key === KEY) choose(event.newValue);
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-theme-set]") : null;
    if (!button) return;
    choose(button.getAttribute("data-theme-set"));
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // As above: the choice holds for this page.
    }
  });
}
