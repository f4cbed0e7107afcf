// Sets the theme before the page is drawn.
"use strict";
{
  const page = document.documentElement.dataset;
  let mode = null;
  try {
    mode = localStorage.getItem("mode");
  } catch {
    // A browser may forbid storage; the theme then follows the system.
  }
  page.mode = mode ?? "auto";
  page.theme = ["light", "dark"].includes(page.mode)
    ? page.mode
    : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
