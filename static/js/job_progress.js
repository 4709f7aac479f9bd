// @ts-check
// `[data-job-progress][data-url]`: asks the server about a job until it has finished, then reloads the page.
// Inside it, each optional: `[data-job-bar]`, `[data-job-stage]`, `[data-job-error]`, `[data-job-no-worker]`,
// `[data-job-offline]`. `data-status` is the status that the page already shows: a job found finished in that same
// status is not worth a reload. `data-done-url`: the page to show instead once the job has succeeded.
// `data-partial`: the page shows what is known of the result; without it the page is reloaded as soon as there is a
// part of the result.

/**
 * @typedef {object} JobState
 * @property {string} status
 * @property {string} stage
 * @property {number} done
 * @property {number} total
 * @property {number | null} percent
 * @property {{code: string, message: string} | null} error
 * @property {boolean} worker_alive
 * @property {boolean} finished
 * @property {boolean} [partial] whether a part of the result can be shown already
 */

const INTERVAL_MS = 1000;
// At first: a short job's result is not kept waiting.
const FIRST_INTERVAL_MS = 250;
const N_FIRST = 24;
const MAX_INTERVAL_MS = 30_000;
const TIMEOUT_MS = 10_000;
// Before a page that was just reloaded, and still does not show the end, is reloaded again.
const SECOND_RELOAD_MS = 15_000;

/**
 * Show `text` in the part called `name`, or hide the part when there is none.
 * @param {HTMLElement} el @param {string} name @param {string | null} text a null hides; an empty one shows what is there
 */
function show(el, name, text) {
  const part = el.querySelector(`[data-job-${name}]`);
  if (!part) return;
  part.toggleAttribute("hidden", text === null);
  if (text && part.textContent !== text) part.textContent = text;
}

/** @param {HTMLElement} el @param {JobState} state */
function render(el, state) {
  const bar = el.querySelector("[data-job-bar]");
  const percent = Math.min(100, Math.max(0, state.percent ?? 0));
  if (bar instanceof HTMLElement) {
    bar.style.width = `${percent}%`;
    bar.closest("[role=progressbar]")?.setAttribute("aria-valuenow", String(Math.round(percent)));
  }
  const count = state.total ? `${state.done.toLocaleString()} of ${state.total.toLocaleString()}` : "";
  show(el, "stage", [state.stage, count].filter(Boolean).join(": ") || null);
  show(el, "error", state.error ? state.error.message : null);
  show(el, "no-worker", state.worker_alive || state.finished ? null : "");
  show(el, "offline", null);
}

/**
 * @param {string} url
 * @returns {Promise<JobState>}
 */
async function ask(url) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" }, signal: controller.signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return await response.json(); // a sign-in page, after the session has run out, is not JSON: an error too
  } finally {
    clearTimeout(timer);
  }
}

/** Say whether this page came by a reload. */
function isReload() {
  const [entry] = performance.getEntriesByType("navigation");
  return entry instanceof PerformanceNavigationTiming && entry.type === "reload";
}

/** @param {HTMLElement} el */
export function mount(el) {
  const url = el.dataset.url ?? "";
  const shown = el.dataset.status;
  let wait = FIRST_INTERVAL_MS;
  let polls = 0;
  let seenUnfinished = false;
  let asking = false;
  let over = false;
  /** @type {number | undefined} */
  let timer;
  el.setAttribute("aria-live", "polite");

  async function poll() {
    if (over || asking) return;
    if (!el.isConnected) {
      over = true;
      return;
    }
    clearTimeout(timer);
    asking = true;
    try {
      const state = await ask(url);
      polls += 1;
      wait = polls < N_FIRST ? FIRST_INTERVAL_MS : INTERVAL_MS;
      render(el, state);
      over = state.finished;
      if (over && state.status === "succeeded" && el.dataset.doneUrl) {
        location.assign(el.dataset.doneUrl);
      } else if (over && state.status !== shown) {
        setTimeout(() => location.reload(), seenUnfinished || !isReload() ? 0 : SECOND_RELOAD_MS);
      }
      if (!over && state.partial && el.dataset.partial === undefined) {
        over = true;
        location.reload();
      }
      seenUnfinished = !over;
    } catch {
      wait = Math.min(MAX_INTERVAL_MS, wait * 2);
      show(el, "offline", "");
    } finally {
      asking = false;
      if (!over) timer = setTimeout(poll, wait);
    }
  }

  addEventListener("online", poll);
  poll();
}
