// Excerpts of search results are fetched, which a browser forbids to pages that lie on a disk.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// Print in the light theme, whatever is on the screen.
{
  const page = document.documentElement.dataset;
  let shown;
  addEventListener("beforeprint", () => { shown = page.theme; page.theme = "light"; });
  addEventListener("afterprint", () => { page.theme = shown; });
}
