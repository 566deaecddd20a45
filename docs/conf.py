"""Settings of the site: python -m sphinx -W --keep-going docs build/site"""

import sys
from pathlib import Path

import mercer

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "mercer"
author = "the mercer developers"
copyright = author
version = release = mercer.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "site_pages",  # writes docs/generated: the reference, studies, pages from outside of docs
    "site_links",  # where names in docstrings and links of pages lead
    "site_equations",  # MathJax from a package, so that nothing comes from a network
]

source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_*", "gallery/*", "Thumbs.db"]
templates_path = ["_templates"]
default_role = "py:obj"
pygments_style = "tango"

autosummary_generate = True
autodoc_typehints = "none"
autodoc_preserve_defaults = True  # as they are written: a class has no place on somebody's computer
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_class_members_toctree = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "alpha"
bibtex_reference_style = "author_year"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("mercer",),
    "filename_pattern": r"plot_",
    "within_subsection_order": "site_gallery.place_of",
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,  # a page that asks a network for its table
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "mercer"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "which_method": []}
