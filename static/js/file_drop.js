// @ts-check
// `<form data-file-drop data-max-mb="100" enctype="multipart/form-data">` with a file input: files may be dropped on
// `[data-drop-zone]` (else on the form); `[data-drop-file]` shows name and size, `[data-drop-error]` what is wrong, a
// `<progress data-drop-progress>` how much is sent. Whatever page the server answers with, a form with errors or, after
// a redirect, another page, takes the place of this page's `<main>`. With `data-send-at-once="#other"` a chosen file is
// sent at once, and what the selector names cannot be used meanwhile. Without script the form is an ordinary one.

const MB = 1024 * 1024;

/** @param {number} bytes */
function sizeOf(bytes) {
  return bytes < MB ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${(bytes / MB).toFixed(1)} MB`;
}

/**
 * Put the `<main>` of an answer instead of ours.
 * @param {string} html @param {string} url
 * @returns {boolean} false when the answer is not a page of this site
 */
function showAnswer(html, url) {
  const answer = new DOMParser().parseFromString(html, "text/html");
  const ours = document.querySelector("main");
  const theirs = answer.querySelector("main");
  if (!ours || !theirs) return false;
  if (url && url !== location.href) {
    history.pushState({}, "", url);
    addEventListener("popstate", () => location.reload(), { once: true });
  }
  document.title = answer.title;
  const main = document.adoptNode(theirs);
  ours.replaceWith(main);
  main.dispatchEvent(new CustomEvent("content-replaced", { bubbles: true }));
  main.tabIndex = -1;
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
  return true;
}

/** @param {HTMLFormElement} el */
export function mount(el) {
  const input = /** @type {HTMLInputElement | null} */ (el.querySelector("input[type=file]"));
  if (!input) return;
  const zone = /** @type {HTMLElement} */ (el.querySelector("[data-drop-zone]") ?? el);
  const label = el.querySelector("[data-drop-file]");
  const problem = el.querySelector("[data-drop-error]");
  const bar = /** @type {HTMLProgressElement | null} */ (el.querySelector("[data-drop-progress]"));
  const maxMb = Number(el.dataset.maxMb) || Infinity;

  /** @param {string} text */
  const complain = (text) => {
    if (problem) problem.textContent = text;
    problem?.toggleAttribute("hidden", !text);
    input.setCustomValidity(text);
  };

  const check = () => {
    const files = [...(input.files ?? [])];
    const large = files.find((file) => file.size > maxMb * MB);
    if (label) label.textContent = files.map((file) => `${file.name} (${sizeOf(file.size)})`).join(", ");
    complain(large ? `${large.name} is ${sizeOf(large.size)}; at most ${maxMb} MB can be sent here. ` +
      `Split the file, or ask an administrator to set MAX_UPLOAD_MB=${Math.ceil(large.size / MB)} for this server and to restart it.` : "");
  };

  /** @param {boolean} busy */
  const setBusy = (busy) => {
    if (bar) bar.hidden = !busy;
    el.toggleAttribute("aria-busy", busy);
    if (el.dataset.sendAtOnce) document.querySelector(el.dataset.sendAtOnce)?.toggleAttribute("inert", busy);
    for (const button of el.querySelectorAll("button")) button.disabled = busy;
  };

  for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle("is-over", name === "dragenter" || name === "dragover");
    });
  }
  zone.addEventListener("drop", (event) => {
    const files = event.dataTransfer?.files;
    if (!files?.length) return;
    if (files.length > 1 && !input.multiple) return complain("Drop one file at a time.");
    input.files = files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
  input.addEventListener("change", () => {
    check();
    if (el.dataset.sendAtOnce && input.files?.length && input.checkValidity()) el.requestSubmit();
  });

  el.addEventListener("submit", (event) => {
    if (!input.files?.length) return; // nothing to wait for: the browser sends the form
    event.preventDefault();
    if (!input.checkValidity()) return;
    const request = new XMLHttpRequest();
    const failed = (/** @type {string} */ text) => {
      setBusy(false);
      complain(text);
      input.setCustomValidity(""); // it may be sent again
    };
    request.upload.addEventListener("progress", (sent) => {
      if (bar && sent.lengthComputable) bar.value = sent.loaded / sent.total;
    });
    // All is sent: the server is reading it, for an unknown time.
    request.upload.addEventListener("load", () => bar?.removeAttribute("value"));
    request.addEventListener("error", () => failed("The connection broke before the file was received. Send it again."));
    request.addEventListener("load", () => {
      if (request.status === 413) return failed("The server refused the file as too large.");
      if (request.status < 500 && showAnswer(request.responseText, request.responseURL)) return;
      failed(`The server could not take the file (error ${request.status}). Send it again, or tell an administrator.`);
    });
    request.open("POST", el.getAttribute("action") || location.href);
    request.send(new FormData(el, event.submitter));
    setBusy(true);
  });
}
