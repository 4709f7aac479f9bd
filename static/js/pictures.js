// @ts-check
// Pictures (`.picture-frame > img`) that are zoomed and moved in step, so that the same part of each is in view: by the
// buttons below each, by + − 0 and the arrows where one has the focus, by pinching, dragging, a double click, and by
// the wheel with Ctrl. Without this script they are plain pictures.

const MOST = 8, STEP = 1.5, MOVE = 0.15;
const frames = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("form .picture-frame")]);
/** @type {HTMLOutputElement[]} */
const said = [];
let zoom = 1;
/** What is in the middle of each frame, as a share of its picture's sides. */
let centre = [0.5, 0.5];

/** @param {number} value @param {number} least @param {number} most */
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

/** Show the part around a place, this much larger. @param {number} factor @param {number} x @param {number} y */
const show = (factor, x, y) => {
  zoom = clamp(factor, 1, MOST);
  const edge = 0.5 / zoom;
  centre = [clamp(x, edge, 1 - edge), clamp(y, edge, 1 - edge)];
  for (const frame of frames) {
    frame.style.setProperty("--zoom", String(zoom));
    ["--x", "--y"].forEach((name, k) => frame.style.setProperty(name, String(centre[k] * zoom - 0.5)));
    frame.classList.toggle("is-zoomed", zoom > 1);
    sharpen(/** @type {HTMLImageElement} */ (frame.firstElementChild));
  }
  for (const output of said) output.value = `${Math.round(zoom * 100)} %`;
};

/** Have the browser load a file that is large enough for what is shown, never a smaller one. @param {HTMLImageElement} img */
const sharpen = (img) => {
  const wanted = Math.ceil(img.offsetWidth * zoom);
  if (zoom === 1 || wanted <= Number(img.dataset.loaded ?? 0)) return;
  img.dataset.loaded = String(wanted);
  img.sizes = `${wanted}px`;
};

/** Zoom around a point of a frame, which stays where it is. @param {HTMLElement} frame @param {number} factor @param {{clientX: number, clientY: number}} point */
const zoomAt = (frame, factor, point) => {
  const box = frame.getBoundingClientRect(), next = clamp(factor, 1, MOST);
  const place = [(point.clientX - box.left) / box.width - 0.5, (point.clientY - box.top) / box.height - 0.5];
  const [x, y] = place.map((share, k) => centre[k] + share / zoom - share / next);
  show(next, x, y);
};

/** @type {Record<string, () => void>} */
const KEYS = {
  "+": () => show(zoom * STEP, ...at()),
  "=": () => show(zoom * STEP, ...at()),
  "-": () => show(zoom / STEP, ...at()),
  "0": () => show(1, 0.5, 0.5),
};
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const at = () => /** @type {[number, number]} */ (centre);

/** @param {HTMLElement} frame */
const mount = (frame) => {
  const img = /** @type {HTMLImageElement} */ (frame.firstElementChild);
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Picture. Plus and minus zoom, arrows move, 0 shows all of it");
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = zoom > 1 ? ARROWS[event.key] : undefined;
    if (!arrow && !KEYS[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (arrow) show(zoom, ...centre.map((share, k) => share + (arrow[k] * MOVE) / zoom));
    else KEYS[event.key]();
  });
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomAt(frame, zoom * 2 ** (-event.deltaY / 240), event);
  }, { passive: false });
  frame.addEventListener("dblclick", (event) => zoomAt(frame, zoom > 1 ? 1 : 2, event));
  follow(frame);
  frame.after(tools());
  img.addEventListener("dragstart", (event) => event.preventDefault());
};

/** Let one finger, or the mouse, move the pictures, and two zoom them. @param {HTMLElement} frame */
const follow = (frame) => {
  /** @type {Map<number, PointerEvent>} */
  const down = new Map();
  const apart = () => {
    const [one, other] = [...down.values()];
    return Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
  };
  frame.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, event);
    if (zoom > 1 || down.size > 1) frame.setPointerCapture(event.pointerId);
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
    frame.addEventListener(name, (event) => down.delete(/** @type {PointerEvent} */ (event).pointerId));
  }
  frame.addEventListener("pointermove", (event) => {
    const last = down.get(event.pointerId);
    if (!last) return;
    const before = down.size > 1 ? apart() : 0;
    down.set(event.pointerId, event);
    const { width, height } = frame.getBoundingClientRect();
    if (before) zoomAt(frame, (zoom * apart()) / before, event);
    else if (zoom > 1) {
      show(
        zoom,
        centre[0] - (event.clientX - last.clientX) / (width * zoom),
        centre[1] - (event.clientY - last.clientY) / (height * zoom),
      );
    }
  });
};

/** Return the buttons of one picture. */
const tools = () => {
  const el = document.createElement("span");
  el.className = "picture-tools";
  for (const [text, label, key] of [["−", "Zoom out", "-"], ["+", "Zoom in", "+"], ["Whole", "Show whole pictures", "0"]]) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: text, title: label });
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => KEYS[key]());
    el.append(button);
  }
  const output = document.createElement("output");
  output.value = "100 %";
  said.push(output);
  el.append(output);
  return el;
};

frames.forEach(mount);
