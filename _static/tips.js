/**
 * Explanations that open on hover, on focus and by touch (WCAG 2.1, 1.4.13).
 *
 * An element explains itself by one of these attributes:
 *   data-tip="text"            plain text;
 *   data-tip-template="id"     a copy of what stands in <template id="id">, links and maths too;
 *   data-tip-list              the explanations of the elements inside it, each once: one tab stop
 *                              for an equation whose symbols are too many to be stops themselves.
 * What should open on focus must be focusable, as a link is; anything else takes tabindex="0".
 * The innermost element under the pointer wins. The tip stays while pointer or focus stays, can be
 * pointed at, and goes on Escape. A tap opens it; a second tap follows the link, if it is one.
 */
"use strict";

{
  const TRIGGER = "[data-tip], [data-tip-template]";
  const FOCUSABLE = `${TRIGGER}, [data-tip-list]`;
  const OPEN_AFTER = 120; // ms: a pointer that only passes opens nothing
  const CLOSE_AFTER = 200; // ms: time to reach the tip
  const MARGIN = 8; // px to the edges of the window

  /** @type {HTMLDivElement | null} the one tip of the page, made at its first use */
  let tip = null;
  /** @type {Element | null} what the tip explains at present */
  let owner = null;
  let timer = 0;
  let touching = false;

  /** @param {EventTarget | null} target @param {string} selector @returns {Element | null} */
  const closest = (target, selector) => target instanceof Element ? target.closest(selector) : null;

  /** @param {Element} element @returns {Node[]} what the tip of this element says */
  function explanation(element) {
    const template = document.getElementById(element.getAttribute("data-tip-template") ?? "");
    if (template instanceof HTMLTemplateElement) return [template.content.cloneNode(true)];
    const text = element.getAttribute("data-tip");
    if (text) return [document.createTextNode(text)];
    return element.hasAttribute("data-tip-list") ? listed(element) : [];
  }

  /** @param {Element} element @returns {Node[]} the tips inside an element, each once */
  function listed(element) {
    const keys = new Map();
    for (const inner of element.querySelectorAll(TRIGGER)) {
      const key = inner.getAttribute("data-tip-template") ?? inner.getAttribute("data-tip");
      if (!keys.has(key)) keys.set(key, inner);
    }
    return [...keys.values()].map((inner) => {
      const row = document.createElement("p");
      row.append(...explanation(inner));
      return row;
    });
  }

  /** @returns {HTMLDivElement} the tip; it stands inside the main landmark */
  function makeTip() {
    const made = document.createElement("div");
    made.id = "tip";
    made.className = "explanation";
    made.hidden = true;
    made.setAttribute("role", "tooltip");
    made.addEventListener("pointerenter", () => clearTimeout(timer));
    made.addEventListener("pointerleave", () => later(close, CLOSE_AFTER));
    (document.querySelector("main") ?? document.body).append(made);
    return made;
  }

  /** Put the tip under its owner, or above it where there is no room below. */
  function place() {
    if (!tip || !owner) return;
    const box = owner.getClientRects()[0] ?? owner.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const left = Math.min(box.left, width - tip.offsetWidth - MARGIN);
    const below = box.bottom + tip.offsetHeight + MARGIN <= innerHeight;
    tip.style.left = `${Math.max(MARGIN, left)}px`;
    tip.style.top = `${below ? box.bottom : Math.max(0, box.top - tip.offsetHeight)}px`;
  }

  /** @param {Element} element */
  function open(element) {
    clearTimeout(timer);
    if (element === owner) return;
    const says = explanation(element);
    if (!says.length) return;
    close();
    tip ??= makeTip();
    tip.replaceChildren(...says);
    tip.hidden = false;
    owner = element;
    owner.setAttribute("aria-describedby", tip.id);
    place();
  }

  function close() {
    clearTimeout(timer);
    if (tip) tip.hidden = true;
    owner?.removeAttribute("aria-describedby");
    owner = null;
  }

  /** @param {() => void} action @param {number} delay in ms */
  function later(action, delay) {
    clearTimeout(timer);
    timer = setTimeout(action, delay);
  }

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const element = closest(event.target, TRIGGER);
    if (element && element === owner) clearTimeout(timer);
    else if (element) later(() => open(element), owner ? CLOSE_AFTER : OPEN_AFTER);
  });
  document.addEventListener("pointerout", (event) => {
    if (event.pointerType === "touch" || !closest(event.target, TRIGGER)) return;
    const focused = owner && owner === document.activeElement;
    later(focused ? () => {} : close, CLOSE_AFTER);
  });
  document.addEventListener("focusin", (event) => {
    const element = closest(event.target, FOCUSABLE);
    if (element && element === event.target && !touching) open(element);
  });
  document.addEventListener("focusout", (event) => {
    if (event.target === owner && !touching) close();
  });
  document.addEventListener("pointercancel", () => { touching = false; });
  document.addEventListener("keydown", (event) => {
    touching = false;
    if (event.key === "Escape" && owner) close();
  });
  document.addEventListener("pointerdown", (event) => {
    touching = event.pointerType === "touch";
    if (touching && !closest(event.target, FOCUSABLE) && !closest(event.target, ".explanation")) close();
  });
  document.addEventListener("click", (event) => {
    const element = touching ? closest(event.target, TRIGGER) : null;
    touching = false;
    if (!element || element === owner) return;
    event.preventDefault();
    open(element);
  });
  addEventListener("scroll", place, { passive: true, capture: true });
  addEventListener("resize", place);
}
