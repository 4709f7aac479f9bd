// @ts-check
// How a worker has chosen to read (reading.js), applied before a page is drawn: no module, so that it waits for nothing.
// Only the pages of who has chosen something have it.
{
  const KEY = "evalsite-reading";
  /** As in static/css/rate_reading.css. @type {Record<string, number>} */
  const SCALES = { larger: 1.25, largest: 1.5 };
  /** Of lines in images, in CSS pixels: usual height, that of wide ones, room above and below (annotation/images/layout.py). */
  const LINE = 27, WIDE_LINE = 36, PADDING = 6;
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const ADAPTED = ["media", "sizes", "height", "srcset", "src"];
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

  /** Let each picture choose its file as if the window had the theme, were narrower where letters are larger, and of wide lines. */
  const choosePictures = () => {
    for (const el of document.querySelectorAll("picture > *")) {
      if (!given.has(el)) given.set(el, Object.fromEntries(ADAPTED.map((name) => [name, el.getAttribute(name) ?? ""])));
      for (const [name, value] of Object.entries(given.get(el) ?? {})) {
        const adapted = name === "media" || name === "sizes" ? adapt(value) : space(name, value);
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

  /** The name of a file, or the height, of these lines, wide apart: they break where they did. @param {string} name @param {string} value */
  const space = (name, value) => {
    if (chosen.spacing !== "wide") return value;
    if (name === "height") return String(((Number(value) - 2 * PADDING) / LINE) * WIDE_LINE + 2 * PADDING);
    return value.replace(/[a-p](?=\.img)/g, (letter) => letter.toUpperCase());
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
