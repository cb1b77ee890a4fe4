"""Finds and loads libtidepool.so.

The first of these places that has it wins, so that an explicit path is never overruled by a file found elsewhere: the
file named by TIDEPOOL_LIBRARY; the folder of this package (a wheel contains it); the release build of the source tree
that contains this package; the system's library path."""

from __future__ import annotations

import ctypes
import os
import pathlib

ABI_VERSION = 1

_PACKAGE = pathlib.Path(__file__).resolve().parent
_NAME = "libtidepool.so"
_SYSTEM_NAME = "libtidepool.so.0"


class LibraryNotFound(ImportError):
    """libtidepool.so was not found, or is not the right one. The message lists the places that were searched."""


def candidates() -> list[pathlib.Path]:
    """The files that are tried, in order, before the system's own search."""
    named = os.environ.get("TIDEPOOL_LIBRARY")
    if named:
        return [pathlib.Path(named)]
    places = [_PACKAGE / _NAME]
    if len(_PACKAGE.parents) > 2 and (_PACKAGE.parents[2] / "workers/runtime/tidepool.h").exists():
        places.append(_PACKAGE.parents[2] / "build/release/lib" / _NAME)
    return places


def _open(path: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise LibraryNotFound(f"{path} cannot be loaded: {error}") from error


def _advice() -> str:
    """A job file cannot set TIDEPOOL_LIBRARY, so inside a job there are other ways."""
    build = "cmake --preset release && cmake --build --preset release --target tidepool_shared"
    if os.environ.get("TIDEPOOL_JOB_FILE"):
        return (f"Build it ({build}) and, for this job to find it, copy it to {_PACKAGE / _NAME}, install the wheel that "
                "carries it, or name a folder with such a package in PYTHONPATH under env of the job file")
    return f"Build it ({build}), or set TIDEPOOL_LIBRARY to its path"


def load() -> ctypes.CDLL:
    """The library, with its version checked. Raises LibraryNotFound in words that say what to do."""
    found = next((place for place in candidates() if place.exists()), None)
    if found is not None:
        library = _open(str(found))
    elif os.environ.get("TIDEPOOL_LIBRARY"):
        raise LibraryNotFound(f"TIDEPOOL_LIBRARY names {os.environ['TIDEPOOL_LIBRARY']}, which does not exist")
    else:
        try:
            library = ctypes.CDLL(_SYSTEM_NAME)
        except OSError:
            looked = ", ".join(str(place) for place in candidates())
            raise LibraryNotFound(
                f"{_NAME} was not found: looked at {looked}, and for {_SYSTEM_NAME} on the system's library path. "
                + _advice()) from None
    version = library.tidepool_abi_version
    version.restype = ctypes.c_int
    if version() != ABI_VERSION:
        raise LibraryNotFound(f"{found or _SYSTEM_NAME} speaks version {version()} of the C interface, and this package "
                              f"version {ABI_VERSION}: install both from the same release")
    return library
