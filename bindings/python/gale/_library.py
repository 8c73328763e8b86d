"""Finding and loading libgale, and the libraries beside it when they are needed.

Looked for in this order: what the environment variable GALE_LIBRARY names (the file libgale.so.0, or its folder), the
package's own folder, the folder that the package was installed beside (libdir.txt, which `cmake --install` writes), the
system's. The libraries beside libgale are taken from where libgale was found.
"""

import ctypes
import functools
import os
import pathlib
import re
import types

from . import _c

VERSION = "0.1.0"  # of the package: that of the headers which _c.py repeats
_FOLDER = pathlib.Path(__file__).resolve().parent


class LibraryError(ImportError):
    """libgale, or a library beside it, cannot be used; the text says which, and what to do."""


def _named():
    """The folder that GALE_LIBRARY names, or None."""
    named = os.environ.get("GALE_LIBRARY")
    if not named:
        return None
    path = pathlib.Path(named)
    return path.parent.resolve() if path.is_file() else path.resolve()


def _folders():
    if _named():
        return [_named()]
    installed = _FOLDER / "libdir.txt"
    beside = [(_FOLDER / installed.read_text().strip()).resolve()] if installed.is_file() else []
    return [_FOLDER, *beside]


def _find(name):
    """Its path, or its bare name, which the system is to look for."""
    file = f"{name}.so.0"
    for folder in _folders():
        if (folder / file).is_file():
            return str(folder / file)
    if _named():
        raise LibraryError(f"gale: there is no {file} in {_named()}, which GALE_LIBRARY names")
    return file


def _open(name):
    path = _find(name)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise LibraryError(f"gale: {path} cannot be loaded ({error}); install the package that has it (Debian: "
                           f"libgale0, or libgale-front0), or let the environment variable GALE_LIBRARY name the "
                           f"folder that it is in") from None


def _bind(into, library, prototypes):
    """Each function under its name without gale_."""
    for name, (result, *arguments) in prototypes.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise LibraryError(f"gale: {library._name} has no {name}: it is not the libgale that this package is for "
                               f"({VERSION})") from None
        function.restype, function.argtypes = result, arguments
        setattr(into, name.removeprefix("gale_"), function)
    return into


def _numbers(version):
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else (0, 0, 0)


def check_version(version, path):
    """A newer library of the same first number has all that an older one had; an older one may lack something."""
    has, needs = _numbers(version), _numbers(VERSION)
    if has[0] != needs[0] or has < needs:
        raise LibraryError(f"gale: {path} is version {version}, and this package needs {VERSION} or a later "
                           f"{needs[0]}.x: install both of one version, or let GALE_LIBRARY name another one")


def _load_gale():
    library = _open("libgale")
    library.gale_version.restype = ctypes.c_char_p
    check_version(library.gale_version().decode(), library._name)
    return _bind(types.SimpleNamespace(), library, _c.GALE)


gale = _load_gale()


@functools.cache
def _beside(name, prototypes):
    return _bind(types.SimpleNamespace(), _open(name), getattr(_c, prototypes))


def sim():
    return _beside("libgale-sim", "SIM")


def front():
    return _beside("libgale-front", "FRONT")


def serve():
    return _beside("libgale-serve", "SERVE")


def store():
    return _beside("libgale-store", "STORE")
