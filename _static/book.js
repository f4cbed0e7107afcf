// What the pages do by themselves: copy code, fold menus, print in light, mark boxes that scroll.
"use strict";

/** Excerpts of search results are fetched, which a browser forbids to pages that lie on a disk. */
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

/** Print in the light theme, whatever is on the screen. */
function printInLight() {
  const page = document.documentElement.dataset;
  let shown = page.theme;
  addEventListener("beforeprint", () => { shown = page.theme; page.theme = "light"; });
  addEventListener("afterprint", () => { page.theme = shown; });
}

/** Buttons of the header name what they do. */
const ACTIONS = {
  "window.print": () => print(),
  toggleFullScreen: () => globalThis.toggleFullScreen(),
};

/** @param {MouseEvent} event */
function act(event) {
  const target = /** @type {Element} */ (event.target);
  const name = target.closest("[data-action]")?.getAttribute("data-action");
  if (name && Object.hasOwn(ACTIONS, name)) ACTIONS[name]();
  for (const menu of document.querySelectorAll("details.book-menu[open]")) {
    if (!menu.contains(target) || name) menu.removeAttribute("open");
  }
}

/** Escape folds an open menu and gives the focus back to its button. @param {KeyboardEvent} event */
function foldMenu(event) {
  const menu = event.key === "Escape" && document.querySelector("details.book-menu[open]");
  if (!menu) return;
  menu.removeAttribute("open");
  menu.querySelector("summary")?.focus();
}

/** Put a button on a block of code that copies it. @param {Element} pre */
function addCopyButton(pre) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copybtn";
  button.title = "Copy";
  button.ariaLabel = "Copy this code";
  button.append(Object.assign(document.createElement("i"), { className: "icon-copy" }));
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent ?? "");
    button.classList.add("success");
    button.ariaLabel = "Copied";
    button.addEventListener("blur", () => {
      button.classList.remove("success");
      button.ariaLabel = "Copy this code";
    }, { once: true });
  });
  pre.after(button);
}

const BOXES = ".bd-article :is(.equation, .output.text_html, .pst-scrollable-table-container)";

/** Whether a box has more to show than it does. @param {Element} box */
const isWide = (box) => box.scrollWidth > box.clientWidth + 1;

/**
 * A box that scrolls shows at its edge that it goes on, can be focused and has a name.
 * @param {Element} box
 * @param {boolean} wide
 */
function markWide(box, wide) {
  if (box.classList.toggle("wide", wide) && !box.hasAttribute("tabindex")) {
    box.setAttribute("tabindex", "0");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", box.matches(".equation") ? "Equation" : "Table");
  }
}

/** All are measured before any is changed: a page is laid out once. */
const boxes = new ResizeObserver((entries) => {
  const found = entries.map(({ target }) => /** @type {const} */ ([target, isWide(target)]));
  for (const [box, wide] of found) markWide(box, wide);
});

function start() {
  printInLight();
  document.addEventListener("click", act);
  document.addEventListener("keydown", foldMenu);
  if (navigator.clipboard) {
    document.querySelectorAll(".highlight pre:not(.output *)").forEach(addCopyButton);
  }
  document.querySelectorAll(BOXES).forEach((box) => boxes.observe(box));
  /** @type {HTMLInputElement | null} */ (
    document.querySelector(".bd-search-container input"))?.focus();
}

start();
