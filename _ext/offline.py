"""Pages that ask nobody but their own site: no notebook launcher."""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.config import Config

from extension import described


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


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.connect("config-inited", remove_launcher)
    app.connect("config-inited", keep_one_search_field)
    return described(__file__)
