// @ts-check
// A chat page's requests to the server: sends what forms would send, and returns the answer. Requests
// are simple ones without credentials: a sandboxed frame has no origin, and may send no others.

/** A try is given up after so long, as a connection can die without a word: the server takes nothing twice. */
const GIVE_UP_MS = 150_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 20_000;
const NOT_UNDERSTOOD = "This was not understood. Change it, and send it again.";

/**
 * What came of a request. `lost`: nobody knows. `barred`: the browser lets no script talk to the server.
 * `isPassed`: what was refused is no longer possible, as the page is out of date.
 * @typedef {{ number: number, by: string, text: string }} Turn
 * @typedef {{ status: "replied" | "waiting" | "failed" | "refused" | "lost" | "barred", isPassed?: boolean,
 *   code?: string, message?: string, wait_ms?: number, turns?: Turn[], number?: number, n_inputs?: number,
 *   progress?: string, is_full?: boolean, can_leave?: boolean, topic?: string }} Answer
 */

/** @param {Response} response @returns {Promise<Answer>} */
async function read(response) {
  if (response.headers.get("content-type")?.startsWith("application/json")) {
    return { ...(await response.json()), isPassed: response.status === 409 };
  }
  if (response.status >= 500 || [408, 425, 429].includes(response.status)) return { status: "lost" };
  return { status: "refused", message: NOT_UNDERSTOOD, isPassed: [404, 405, 409, 410].includes(response.status) };
}

/** @param {HTMLElement} el */
export function mount(el) {
  const page = el.dataset.chatUrl ?? location.href;
  let hasAnswered = false, isBarred = false;
  /** What ends each wait that goes on. @type {Set<() => void>} */
  const waits = new Set();
  const wake = () => waits.forEach((end) => end());

  const isReachable = async () => {
    try {
      await fetch(page, { method: "HEAD", mode: "no-cors", credentials: "omit" });
      return true;
    } catch {
      return false;
    }
  };

  /** Send once. @param {string} url @param {Record<string, string>} fields @returns {Promise<Answer>} */
  const post = async (url, fields) => {
    if (!navigator.onLine) return { status: "lost" };
    const stop = new AbortController();
    const abort = () => stop.abort();
    const timer = setTimeout(abort, GIVE_UP_MS);
    addEventListener("offline", abort);
    try {
      const response = await fetch(url, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: { Accept: "application/json" },
        credentials: "omit",
        signal: stop.signal,
      });
      const answer = await read(response);
      hasAnswered = true;
      return answer;
    } catch {
      isBarred = !hasAnswered && navigator.onLine && (await isReachable());
      return { status: isBarred ? "barred" : "lost" };
    } finally {
      clearTimeout(timer);
      removeEventListener("offline", abort);
    }
  };

  /** Wait so long, or until there is a connection, or somebody wants to try. @param {number} ms */
  const rest = (ms) =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waits.delete(end);
        resolve(undefined);
      };
      const timer = setTimeout(end, ms);
      waits.add(end);
    });
  addEventListener("online", wake);

  /**
   * Send until an answer comes, later and later.
   * @param {string} url @param {Record<string, string>} fields @param {() => void} onLost
   * @returns {Promise<Answer>}
   */
  const retry = async (url, fields, onLost) => {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const answer = await post(url, fields);
      if (answer.status !== "lost") return answer;
      onLost();
      await rest(pause);
    }
  };

  return {
    post,
    retry,
    rest,
    tryNow: wake,
    /** Whether the last try found that the browser lets no script talk to the server, and forms may get there. */
    get isBarred() {
      return isBarred && navigator.onLine;
    },
  };
}
