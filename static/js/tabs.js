// @ts-check
// `[data-tabs]`: brings the current tab into sight where the tabs are wider than the screen.

/** @param {HTMLElement} el */
export function mount(el) {
  const tab = el.querySelector("[aria-current]");
  const row = tab?.closest("ul");
  if (!tab || !row) return;
  const { left, width } = tab.getBoundingClientRect();
  row.scrollLeft += left - row.getBoundingClientRect().left - (row.clientWidth - width) / 2;
}
