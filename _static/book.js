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

/** A box with something to scroll can be focused, has a name and shows at its edge that it goes on. */
function markWide(/** @type {Element} */ box) {
  const wide = box.scrollWidth > box.clientWidth + 1;
  box.classList.toggle("wide", wide);
  if (!wide) {
    if (box.classList.contains("named")) for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    box.classList.remove("named");
    return;
  }
  const number = box.parentElement?.querySelector(".eqno")?.firstChild?.textContent ?? "";
  const what = box.classList.contains("equation") ? `Equation ${number}` : "Table";
  box.classList.add("named");
  box.setAttribute("tabindex", "0");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `${what.trim()}, scrolls sideways`);
}

function start() {
  printInLight();
  document.addEventListener("click", act);
  document.addEventListener("keydown", foldMenu);
  if (navigator.clipboard) {
    document.querySelectorAll(".highlight pre:not(.output *)").forEach(addCopyButton);
  }
  const seen = new ResizeObserver((entries) => entries.forEach((one) => markWide(one.target)));
  document.querySelectorAll(BOXES).forEach((box) => seen.observe(box));
  /** @type {HTMLInputElement | null} */ (
    document.querySelector(".bd-search-container input"))?.focus();
}

start();
