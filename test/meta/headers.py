"""The public functions, as the headers in include/gale declare them. Shared by tests in this directory."""

import pathlib
import re


def without_comments(text):
    """The text with comments and preprocessor lines blanked; line numbers stay as they are."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def exported(text):
    """Names of the functions marked GALE_API."""
    return re.findall(r"\bGALE_API\b[^;({]*?\b(\w+)\s*\(", without_comments(text))


def tables(text):
    """Names of the tables marked GALE_API."""
    return re.findall(r"\bGALE_API\s+extern\s+const\s+\w+\s+(\w+)\s*;", without_comments(text))


def inlined(text):
    """Names of the functions that a header defines itself; the library exports a copy of each."""
    return re.findall(r"\bGALE_INLINE\b[^;({]*?\b(\w+)\s*\(", without_comments(text))


def private(text):
    """Names of the functions that a header defines and nobody exports: there should be none."""
    return re.findall(r"\bstatic\b[^;({]*?\b(\w+)\s*\(", without_comments(text))


def public_headers(root):
    return sorted((pathlib.Path(root) / "include" / "gale").glob("*.h"))


def headers_beside(root):
    """Those of the libraries beside libgale."""
    return sorted((pathlib.Path(root) / "include").glob("gale_*.h"))
