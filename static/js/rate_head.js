// @ts-check
// A worker page before it is drawn: sets the system's theme, which its images have too, or what the worker has chosen
// (`<html data-reading="what loads rate_reading.js and its style sheet">`), and marks a browser that is too old, which the page
// then says: those of chats (`<html data-has-chats>`) need more than others. It is part of the page, in the language of 2009,
// which every browser reads. Versions: docs/ethics.md.
(function () {
  var root = document.documentElement;
  var isOld = !("at" in Array.prototype); // Chrome 92, Firefox 90, Safari 15.4
  if (root.hasAttribute("data-has-chats")) {
    isOld = isOld || !("requestSubmit" in HTMLFormElement.prototype); // Safari 16
    isOld = isOld || !CSS.supports("block-size", "1dvh"); // Chrome 108
    isOld = isOld || !CSS.supports("selector(:has(a))"); // Firefox 121
  }
  if (isOld) root.className += " is-old-browser";

  var dark = matchMedia("(prefers-color-scheme: dark)");
  function apply() {
    root.setAttribute("data-theme", dark.matches ? "dark" : "light");
  }
  apply();
  if (dark.addEventListener) dark.addEventListener("change", apply);

  var chosen;
  try {
    chosen = localStorage.getItem("evalsite-reading");
  } catch (_) {
    chosen = self.name.indexOf("evalsite-reading") > 0; // tools.js
  }
  if (chosen) document.write(root.getAttribute("data-reading"));
})();
