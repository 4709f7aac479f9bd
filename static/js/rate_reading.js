// @ts-check
// How a worker has chosen to read (reading.js), applied before a page is drawn: no module, so that it waits for nothing.
// Only the pages of who has chosen something have it.
{
  const KEY = "evalsite-reading";
  /** As in static/css/rate_reading.css. @type {Record<string, number>} */
  const SCALES = { larger: 1.25, largest: 1.5 };
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  /** @type {WeakMap<Element, Record<string, string>>} */
  const given = new WeakMap();
  /** @type {Record<string, string>} */
  let chosen = {};

  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(KEY) ?? "{}");
    } catch {
      const [, carried = "{}"] = /^evalsite-kept (.*)/s.exec(self.name) ?? [];
      return JSON.parse(carried)[KEY] ?? {};
    }
  };

  const apply = () => {
    root.dataset.theme = chosen.theme || (dark.matches ? "dark" : "light");
    for (const name of ["size", "spacing"]) {
      if (chosen[name]) root.dataset[name] = chosen[name];
      else delete root.dataset[name];
    }
    choosePictures();
  };

  /** Let each picture choose its file as if the window had the theme, and were narrower where letters are larger. */
  const choosePictures = () => {
    for (const el of document.querySelectorAll("picture > *")) {
      if (!given.has(el)) given.set(el, { media: el.getAttribute("media") ?? "", sizes: el.getAttribute("sizes") ?? "" });
      for (const [name, value] of Object.entries(given.get(el) ?? {})) {
        const adapted = adapt(value);
        if (value && adapted !== el.getAttribute(name)) el.setAttribute(name, adapted);
      }
    }
  };

  /** @param {string} value */
  const adapt = (value) => {
    const isDark = value.includes("prefers-color-scheme: dark");
    if (isDark && chosen.theme === "light") return "not all";
    if (isDark && chosen.theme) value = value.replace(/(^| and )\(prefers-color-scheme: dark\)/g, "") || "all";
    return value.replace(/[\d.]+(?=r?em)/g, (number) => String(Number(number) * (SCALES[chosen.size] ?? 1)));
  };

  chosen = read();
  apply();
  dark.addEventListener("change", apply);
  document.addEventListener(KEY, (event) => {
    chosen = /** @type {CustomEvent} */ (event).detail;
    apply();
  });
  // Before the browser chooses a file of what it has parsed.
  new MutationObserver(choosePictures).observe(root, { childList: true, subtree: true });
}
