// What is wrong with the page that is open. Evaluated in it by the tests, after axe-core.
(() => {
  "use strict";

  /** Where an element stands, for a message. @param {Element} element */
  const place = (element) => {
    const steps = [];
    for (let at = element; at && at !== document.body && steps.length < 3; at = at.parentElement) {
      if (at.id) { steps.unshift(`#${at.id}`); break; }
      const kind = at.getAttribute("class")?.trim().split(/\s+/).slice(0, 2).join(".");
      steps.unshift(at.tagName.toLowerCase() + (kind ? `.${kind}` : ""));
    }
    return steps.join(" > ");
  };

  /** The beginning of a text. @param {string} text */
  const short = (text) => text.replace(/\s+/g, " ").trim().slice(0, 90);

  /** Wait until scripts have drawn, fonts have come, movements have ended; unfold what is folded. */
  const settle = async () => {
    await window.MathJax?.startup?.promise;
    // Menus stay closed: open ones lie over the text.
    for (const box of document.querySelectorAll("main details")) {
      box.open ||= !box.closest(".bd-header-article");
    }
    for (const image of document.images) image.loading = "eager";
    await document.fonts.ready;
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const ending = document
      .getAnimations()
      .filter((one) => one.effect.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map((one) => one.finished));
  };

  const TEX = /\\[a-zA-Z]+|\\[()[\]]|\$\$|\$[^\s\d$](?:[^$]*[^\s$])?\$/;
  const VERBATIM =
    "code, pre, script, style, textarea, noscript, annotation, annotation-xml, mjx-container";

  /** Every text of the page that a reader meets, with its element. */
  function* texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement, data } = walker.currentNode;
      if (!parentElement.closest(VERBATIM)) yield [parentElement, data];
    }
    for (const element of document.querySelectorAll("[alt], [title], [aria-label]")) {
      if (element.closest(VERBATIM)) continue;
      for (const name of ["alt", "title", "aria-label"]) {
        if (element.hasAttribute(name)) yield [element, element.getAttribute(name)];
      }
    }
  }

  /** Maths that is not set, or set wrongly. */
  const maths = () => {
    const faults = [];
    for (const box of document.querySelectorAll(".math:not(math)")) {
      if (!box.querySelector("math, mjx-container") && !box.closest("math")) {
        faults.push(`maths not set: ${short(box.textContent)}`);
      }
    }
    for (const error of document.querySelectorAll("merror, mjx-merror, .temml-error")) {
      faults.push(`maths with an error: ${short(error.textContent)}`);
    }
    for (const [element, text] of texts()) {
      const found = text.match(TEX);
      if (found && !element.closest(".math:not(:has(math, mjx-container)), merror, .temml-error")) {
        faults.push(`raw TeX in ${place(element)}: ${short(found[0])}`);
      }
    }
    return faults;
  };

  /** Pictures that say nothing to those who do not see them, or that did not come. */
  const pictures = () => {
    const faults = [];
    for (const image of document.images) {
      const alt = image.getAttribute("alt")?.trim();
      if (image.complete && !image.naturalWidth) faults.push(`broken picture: ${image.src}`);
      if (image.closest("[aria-hidden=true]") || image.role === "presentation") continue;
      if (!alt) faults.push(`picture without a text: ${place(image)}`);
      else if (/\.(svg|png|jpe?g)$/.test(alt)) faults.push(`picture named by its file: ${alt}`);
    }
    for (const drawing of document.querySelectorAll("svg:not(svg svg)")) {
      // axe-core sees to the names of buttons and links.
      if (drawing.closest("[aria-hidden=true], button, a")) continue;
      const named = drawing.closest("[role=img]") ?? drawing;
      const title = named.querySelector(":scope > title")?.textContent;
      if (!named.ariaLabel && !named.hasAttribute("aria-labelledby") && !title) {
        faults.push(`drawing without a name: ${place(drawing)}`);
      }
    }
    return faults;
  };

  /** Whether an element is shown to no eye, on purpose. @param {DOMRect} box */
  const unseen = (element, box) =>
    box.width <= 1 || box.height <= 1 || box.right <= 0 ||
    element.closest(".visually-hidden, .sr-only, mjx-assistive-mml") ||
    !element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  /** The nearest box around an element that does not let it stick out. @param {Element} element */
  const keeper = (element) => {
    for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== "visible") return at;
    }
    return null;
  };

  /** What does not fit the width of the screen and cannot be scrolled to in a box of its own. */
  const wide = () => {
    const limit = document.documentElement.clientWidth;
    const faults = [];
    for (const element of document.body.querySelectorAll("*")) {
      const box = element.getBoundingClientRect();
      // The theme's side bars wait outside of the screen until they are called.
      if (box.right <= limit + 1 || unseen(element, box) || element.closest("dialog, .bd-sidebar-primary, .bd-sidebar-secondary")) continue;
      const around = keeper(element);
      const clipped = around && /hidden|clip/.test(getComputedStyle(around).overflowX);
      if (!around || clipped) faults.push(`${clipped ? "cut off" : "too wide"}: ${place(element)}`);
    }
    const scrolled = document.scrollingElement.scrollWidth;
    if (scrolled > limit) faults.push("the page scrolls sideways");
    return faults.length ? [`${faults[0]} (${scrolled} px for ${limit})`] : [];
  };

  /** Whether less contrast is enough for a text. @param {CSSStyleDeclaration} style */
  const large = ({ fontSize, fontWeight }) =>
    parseFloat(fontSize) >= (Number(fontWeight) >= 700 ? 18.66 : 24);
  const BEHIND = ["backgroundColor", "backgroundImage", "opacity", "filter", "mixBlendMode"];
  const NOTHING = ["rgba(0, 0, 0, 0)", "none", "1", "none", "normal"].join();

  const SOME = 2; // of one look: axe-core leaves open what is covered in part

  /** Some elements of each look: text of one colour on the same layers is judged once. */
  const looks = () => {
    const layers = new Map([[null, ""]]);
    const behind = (element) => {
      if (!layers.has(element)) {
        const style = getComputedStyle(element);
        const own = BEHIND.map((name) => style[name]).join();
        layers.set(element, behind(element.parentElement) + (own === NOTHING ? "" : `|${own}`));
      }
      return layers.get(element);
    };
    const found = new Map();
    for (const element of document.body.querySelectorAll("*")) {
      const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
      const length = texts.map((node) => node.data.trim()).join("").length;
      if (!length || !element.checkVisibility({ visibilityProperty: true })) continue;
      const style = getComputedStyle(element);
      // axe-core leaves open single letters as well.
      const own = [style.color, style.textShadow, large(style), length > 1];
      const key = behind(element) + own.join();
      if (!found.has(key)) found.set(key, []);
      if (found.get(key).length < SOME) found.get(key).push(element);
    }
    return [...found.values()].flat();
  };

  /** Rules whose outcome another theme or width can change. */
  const BY_LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable"];

  /** What axe-core finds, by all its rules or by those of looks alone. @param {boolean} all */
  const access = async (all) => {
    for (const element of looks()) element.setAttribute("data-look", "");
    axe.configure({ rules: [{ id: "color-contrast", selector: "[data-look]" }] });
    // axe-core would ask for style sheets once more, by addresses that it gets wrong.
    const options = { resultTypes: ["violations"], preload: false, iframes: false };
    const { violations } = await axe.run(document, all ? options : { ...options, runOnly: BY_LOOK });
    return violations.flatMap(({ id, nodes }) => {
      const { target, any, all: every, none } = nodes[0];
      const why = [...any, ...every, ...none][0]?.message ?? "";
      return `axe ${id} (${nodes.length}): ${target.join(" ")}: ${short(why)}`;
    });
  };

  /** How many there are of what is checked. */
  const counted = () => ({
    formulas: document.querySelectorAll("math, mjx-container").length,
    pictures: document.images.length,
  });

  window.checks = { settle, maths, pictures, wide, access, counted };
})();
