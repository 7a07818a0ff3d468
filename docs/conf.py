"""The documentation site: `make docs` builds it into site/, with warnings as errors."""

import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

from generated import GENERATED, notebook_cache

import comarkov

project = "comarkov"
author = "The comarkov developers"
copyright = "The comarkov developers"
version = release = comarkov.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
    "api_pages",
    "command_pages",
    "figure_files",
    "gallery_pages",
]
exclude_patterns = ["_ext", "_generated/extra", "_generated/notebooks"]

# Markdown, and notebooks written in it; a cell that fails is an error.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(notebook_cache())
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_output_stderr = "remove-warn"  # what warns readers is an error here
smartquotes = False  # options such as --force are text, too
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Docstrings state the types of parameters in words.
autodoc_typehints = "none"
numpydoc_show_class_members = False

linkcheck_ignore = [r"https://doi\.org/"]  # publishers refuse programs
linkcheck_timeout = 20
linkcheck_workers = 4

# Pages that are not part of a section have no navigation of one.
ALONE = ("index", "getting_started", "trust", "faq", "stability")
ALONE += ("reproduction/reproduction", "changelog", "citation")
html_theme = "pydata_sphinx_theme"
html_title = "comarkov"
html_static_path = ["_static"]
html_logo = html_favicon = "_static/logo.svg"
html_extra_path = [str(GENERATED / "extra")]  # reports, copied as they are
html_css_files = ["comarkov.css"]
html_show_sourcelink = False
html_use_index = False  # the reference and the search are easier to read
html_copy_source = False
html_theme_options = {
    "logo": {"text": "comarkov"},
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "icon_links": [
        {
            "name": "Source on GitHub",
            "url": "https://github.com/comarkov/comarkov",
            "icon": "fa-brands fa-github",
        },
        {
            "name": "Package on PyPI",
            "url": "https://pypi.org/project/comarkov/",
            "icon": "fa-solid fa-box",
        },
    ],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}

# Each page gets a description of its own, for search engines and previews of links.
ogp_site_url = "https://comarkov.github.io/comarkov/"
ogp_enable_meta_description = True
ogp_social_cards = {"enable": False}
html_sidebars = {name: [] for name in (*ALONE, "search")}


def setup(app: Any) -> None:
    """Adapt what Sphinx does by default."""
    app.connect("source-read", _without_last_blank_lines)


def _without_last_blank_lines(app: Any, name: str, source: list[str]) -> None:
    """Doctests end with a blank line above the fence, which readers need not see."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")
