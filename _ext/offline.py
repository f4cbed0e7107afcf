"""Pages that ask nobody but their own site: MathJax beside them, no notebook launcher."""

from __future__ import annotations

import hashlib
import shutil
from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

# What a page with TeX in it can ask for, of the 24 MB that the package carries.
MATHJAX = ("tex-chtml.js", "input/tex/extensions", "output/chtml/fonts/woff-v2")


def remove_launcher(app: Sphinx, config: Config) -> None:
    """Take out sphinx-thebe, which Jupyter Book always loads and which names a foreign address."""
    for listeners in app.events.listeners.values():
        listeners[:] = [one for one in listeners if one.handler.__module__ != "sphinx_thebe"]
    styles = app.registry.css_files
    styles[:] = [style for style in styles if style[0] != "sphinx-thebe.css"]


def keep_one_search_field(app: Sphinx, config: Config) -> None:
    """Leave out the header's search field: the side bar has one."""
    # Options set in _config.yml would replace those that Jupyter Book computes.
    config.html_theme_options["navbar_persistent"] = []


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    """Put MathJax into the site, once."""
    package = find_spec("sphinx-mathjax-offline")
    if error or app.builder.format != "html" or package is None or package.origin is None:
        return
    source = Path(package.origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for name in MATHJAX:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.config.mathjax_path = "mathjax/tex-chtml.js"
    app.connect("config-inited", remove_launcher)
    app.connect("config-inited", keep_one_search_field)
    app.connect("build-finished", copy_mathjax)
    return {
        "env_version": hashlib.sha256(Path(__file__).read_bytes()).hexdigest(),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
