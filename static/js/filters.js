// @ts-check
// `<form method="get" data-filter>`: the filter above a list. Its choices are in the address; for the session of the tab they are also
// kept, and links of the navigation to the list have them. The list without a filter, as *Show all* leads to it, forgets.

const KEY = "filter:";
const NAVIGATION = ".site-head a[href], .side a[href], .crumbs a[href]";

/** Return what a list is narrowed by, without the page of it; "" if by nothing. @param {string} search */
function filterOf(search) {
  const chosen = [...new URLSearchParams(search)].filter(([name, value]) => value && name !== "page");
  return new URLSearchParams(chosen).toString();
}

/** @param {() => void} act */
function withStorage(act) {
  try {
    act();
  } catch {
    // Storage is refused in some private windows: then the address alone has the filter.
  }
}

/** @param {HTMLFormElement} _el */
export function mount(_el) {
  withStorage(() => {
    const filter = filterOf(location.search);
    if (filter) sessionStorage.setItem(KEY + location.pathname, filter);
    else sessionStorage.removeItem(KEY + location.pathname);
  });
}

/** Give links to lists the filters that they had; forget them where nobody is signed in. @param {Element} body */
export function mountLinks(body) {
  withStorage(() => {
    for (const key of Object.keys(sessionStorage)) {
      if (!key.startsWith(KEY)) continue;
      const path = key.slice(KEY.length);
      if (!body.querySelector(".site-nav")) sessionStorage.removeItem(key);
      else if (path !== location.pathname) {
        for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (body.querySelectorAll(NAVIGATION))) {
          if (link.pathname === path && !link.search) link.search = sessionStorage.getItem(key) ?? "";
        }
      }
    }
  });
}
