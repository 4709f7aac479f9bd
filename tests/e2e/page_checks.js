// What is checked of a page as it is drawn: it returns sentences, each a problem. Run in the page by test_all_pages.py.
(() => {
  const SLACK = 1.5; // fractions of pixels are rounded

  /** Return how an element is named in a sentence. */
  const called = (element) => {
    const classes = element.getAttribute("class");
    const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 50);
    return `<${element.localName}${element.id ? ` #${element.id}` : ""}${classes ? ` .${classes}` : ""}> “${text}”`;
  };

  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });

  /** Whether it is read out only: one pixel, clipped. */
  const isReadOnly = (style) => style.clipPath.startsWith("inset") || style.clip.startsWith("rect");

  const scrolls = (overflow) => overflow === "auto" || overflow === "scroll";
  const hides = (overflow) => overflow === "hidden" || overflow === "clip";

  /** Whether an element may be scrolled by keyboard, and says what it is: a region, a text in a box, a navigation. */
  const isLabelledScroller = (element) =>
    element.matches("pre[tabindex], textarea, select, nav[aria-label], [aria-label] [data-scroller]") ||
    (element.matches("[tabindex]") && (element.hasAttribute("aria-label") || element.hasAttribute("aria-labelledby")));

  /** Whether what is cut of an element is shown by a title, of something in it or around it too, or by opening it. */
  const isTitled = (element) => element.closest("[title], summary") !== null || element.querySelector("[title]") !== null;

  /** Return the closest ancestor that scrolls or hides what is wider than itself. */
  const holderOf = (element) => {
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      const style = getComputedStyle(each);
      if (scrolls(style.overflowX) || hides(style.overflowX)) return each;
    }
    return null;
  };

  window.pageProblems = () => {
    const problems = [];
    const width = window.innerWidth;
    const root = document.documentElement;
    if (root.scrollWidth > width) problems.push(`the page is ${root.scrollWidth} wide`);
    const hidden = new Set();
    for (const element of document.body.querySelectorAll("*")) {
      if (!isShown(element) || element.closest("svg") || element.matches("option, optgroup")) continue;
      const style = getComputedStyle(element);
      if (isReadOnly(style) || hidden.has(element.parentElement)) {
        hidden.add(element);
        continue;
      }
      const isWider = element.scrollWidth > element.clientWidth + SLACK && element.clientWidth > 0;
      const isHigher = element.scrollHeight > element.clientHeight + SLACK && element.clientHeight > 0;
      if (isWider && scrolls(style.overflowX) && !isLabelledScroller(element)) {
        problems.push(`scrolls sideways without a label: ${called(element)}`);
      }
      if (isWider && hides(style.overflowX) && !element.matches("input")) {
        if (style.textOverflow !== "ellipsis" || !isTitled(element)) problems.push(`is cut at its end: ${called(element)}`);
      }
      if (isHigher && hides(style.overflowY) && !isWider) {
        if (style.webkitLineClamp === "none" || !isTitled(element)) problems.push(`is cut below: ${called(element)}`);
      }
      if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
      const range = document.createRange();
      for (const node of element.childNodes) {
        if (node.nodeType !== 3 || !node.textContent.trim()) continue;
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (box.width <= 1 || holderOf(element)) continue;
        if (box.right > width + SLACK || box.left < -SLACK) problems.push(`is out of the window: ${called(element)}`);
        const frame = element.getBoundingClientRect();
        if (element.matches("button, .btn, .badge, th, td, summary, h1, h2, h3, p, li, dd, dt") && box.right > frame.right + SLACK) {
          problems.push(`is wider than its frame: ${called(element)}`);
        }
      }
    }
    // Of what leads from page to page, nothing is out of sight.
    for (const link of document.querySelectorAll(".site-head a, .site-head summary, .side a, .side button")) {
      const box = link.getBoundingClientRect();
      if (!isShown(link) || !box.width) continue;
      if (box.left < 0 || box.right > width + SLACK) problems.push(`the navigation is cut: ${called(link)}`);
    }
    return problems;
  };

  const LAPTOP = 700; // pixels of height
  const SHIFT = 0.02;

  /** Whether the side bar fits a laptop. */
  window.sideBarProblems = () => {
    const side = document.querySelector(".side");
    const height = side ? Math.round(side.getBoundingClientRect().top + scrollY + side.scrollHeight) : 0;
    return height > LAPTOP ? [`the side bar ends at ${height} pixels`] : [];
  };

  /** Whether what was drawn stayed where it was while the page was loaded. */
  window.shiftProblems = async () => {
    const { total, what } = await layoutShift();
    return total > SHIFT ? [`the page moved by ${total.toFixed(3)}: ${what.join(", ")}`] : [];
  };

  /** Return by how much what was drawn has moved since the page was opened (cumulative layout shift), and what moved. */
  const layoutShift = () =>
    new Promise((resolve) => {
      const shifts = [];
      const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
      observer.observe({ type: "layout-shift", buffered: true });
      setTimeout(() => {
        shifts.push(...observer.takeRecords());
        observer.disconnect();
        const nodes = shifts.flatMap((each) => each.sources.map((source) => source.node)).filter((node) => node?.localName);
        resolve({ total: shifts.reduce((sum, each) => sum + each.value, 0), what: [...new Set(nodes)].map(called) });
      }, 100);
    });

  /** Open what a reader may open, but for menus over the page; return whether anything was closed. */
  window.openEverything = () => {
    const closed = document.querySelectorAll("main details:not([data-menu], [open])");
    for (const details of closed) details.open = true;
    return closed.length > 0;
  };

  /** Open or close the pages of the side bar. */
  window.openSideBar = (isOpen) => {
    const button = document.querySelector("[data-side-bar] button[aria-expanded]");
    if (button && button.checkVisibility() && (button.getAttribute("aria-expanded") === "true") !== isOpen) button.click();
  };

  window.setTheme = (theme) => {
    document.documentElement.dataset.theme = theme;
  };

  /** Return the elements of each kind of text: the colour of its letters, and all that is painted behind them. */
  const textsByColours = () => {
    const found = new Map();
    for (const element of document.body.querySelectorAll("*")) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!(hasText || element.matches("input, select, textarea")) || !isShown(element)) continue;
      const { color, fontSize, fontWeight, textShadow, textDecorationLine } = getComputedStyle(element);
      const isLarge = parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24);
      const link = element.closest("a") && `a ${textDecorationLine} ${getComputedStyle(element.closest("a").parentElement).color}`;
      const pair = [color, isLarge, textShadow, link, element.matches(":disabled")];
      for (let each = element; each; each = each.parentElement) {
        const { backgroundColor, backgroundImage, opacity } = getComputedStyle(each);
        if (backgroundImage !== "none" || opacity !== "1") pair.push(backgroundImage, opacity);
        if (backgroundColor !== "rgba(0, 0, 0, 0)") pair.push(backgroundColor);
        if (backgroundColor.startsWith("rgb(")) break;
      }
      const kind = pair.join();
      // What is said about a link is said of it whole.
      found.set(kind, [...(found.get(kind) || []), element.closest("a") || element]);
    }
    return found;
  };

  window.colourPairs = () => [...textsByColours().keys()];

  /** Return what axe finds, by the rules that are named or by all but those; in texts of some colours, or everywhere. */
  window.axeProblems = async ({ only, without, colours }) => {
    const options = { resultTypes: ["violations"], preload: false };
    if (only) options.runOnly = { type: "rule", values: only };
    if (without) options.rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
    const texts = colours && textsByColours();
    const context = colours ? { include: [...new Set(colours.flatMap((kind) => texts.get(kind)))] } : document;
    const found = await window.axe.run(context, options);
    return found.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => {
        const why = failureSummary.split("\n").slice(1).map((line) => line.trim()).join("; ");
        return `${id} (${help}): ${target.join(" ")}: ${why}`;
      }),
    );
  };
})();
