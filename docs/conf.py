"""The documentation site: `make docs` builds it in build/docs/html, `make docs-serve` shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import breathe.directives.file
from breathe.renderer import TaggedNode

ROOT = Path(__file__).resolve().parents[1]

project = "ndpool"
author = "the ndpool authors"
copyright = "the ndpool authors"
version_line = re.search(
    r"project\(ndpool VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()
)
assert version_line is not None
release = version = version_line[1]

extensions = ["breathe", "myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["Doxyfile"]
nitpicky = True

# Headings of Markdown are targets of links, as on GitHub.
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "substitution"]

# Stubs and signatures name the types of arguments; these are no classes that a page describes.
autodoc_typehints_format = "short"
aliases = ("Array", "Empty", "Ints", "Nan", "Padding", "PadMode", "Rounding", "Size", "Ties")
# The page of `ndpool.jax` is made without JAX, and without what is registered with it.
autodoc_mock_imports = [
    "jax",
    "jaxlib",
    "ndpool.jax._native",
    "ndpool.jax._maps",
    "ndpool.jax._derivatives",
]
autodoc_type_aliases = {name: name for name in aliases}
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "all"
python_use_unqualified_type_names = True

breathe_projects = {"ndpool": str(ROOT / "build/doxygen/xml")}
breathe_default_project = "ndpool"
breathe_show_include = False
cpp_maximum_signature_line_length = 100

# Identifiers within signatures that have no page: the standard library, template parameters, and
# namespaces `detail`. Links that somebody wrote are of other kinds, and must lead somewhere.
nitpick_ignore_regex = [
    ("cpp:identifier", ".*"),
    ("py:class", r"(?!ndpool\.).*|ndpool\.([a-z]+\.)*_\w+(\.\w+)*"),
]
# Every header opens the namespace again, and Breathe declares it each time.
suppress_warnings = ["duplicate_declaration.cpp", "duplicate_declaration.c"]


def find_header(
    name: str, parser: Any, project: Any, index: Any, matches: list[list[TaggedNode]]
) -> None:
    """Finds a header by its path. Breathe knows no folders, and there are two `typed.hpp`."""
    for compound in index.file_compounds:
        if compound.name != name.rpartition("/")[2]:
            continue
        for definition in parser.parse_compound(compound.refid, project).root.compounddef:
            if definition.location is not None and definition.location.file == name:
                matches.append([TaggedNode(None, definition)])


breathe.directives.file.file_finder_filter = find_header

html_theme = "furo"
html_title = f"ndpool {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# Another command builds the explorer, with a toolchain of its own: a site without it says how.
explorer = ROOT / "build/web/explorer.html"
html_extra_path = [str(explorer)] if explorer.exists() else []
myst_substitutions = {
    "explorer": '<a href="explorer.html">the explorer</a>, which computes in your browser'
    if explorer.exists()
    else "the explorer that `make explorer` builds"
}


def make_accessible(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Corrects what axe-core finds in Furo: headings without a level, boxes that take no focus."""
    if "furo_navigation_tree" in context:
        navigation = context["furo_navigation_tree"]
        context["furo_navigation_tree"] = navigation.replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )
    if "body" in context:
        body = context["body"].replace("<pre>", '<pre tabindex="0">')
        context["body"] = body.replace(
            '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
        )


def name_aliases(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """Writes aliases in a union as names, not as the objects that autodoc has in their place."""
    if not signature:
        return None
    return re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature), returns


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", name_aliases)
    app.connect("html-page-context", make_accessible, priority=900)
