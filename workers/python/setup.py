"""Puts libtidepool.so into the wheel: the file that TIDEPOOL_LIBRARY names, or else the release build's.

Nothing is compiled here. Without a library the wheel is pure Python and finds one where it is installed.
"""

import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

SOURCE = pathlib.Path(__file__).resolve().parent
BUILT = SOURCE.parents[1] / "build/release/lib/libtidepool.so"


def library():
    named = os.environ.get("TIDEPOOL_LIBRARY")
    if named and not pathlib.Path(named).is_file():
        raise SystemExit(f"TIDEPOOL_LIBRARY names {named}, which is no file")
    path = pathlib.Path(named) if named else BUILT
    return path if path.is_file() else None


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if library() is not None:
            shutil.copyfile(library(), pathlib.Path(self.build_lib) / "tidepool/libtidepool.so")


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return library() is not None


def wheel_command():
    """The library is loaded through ctypes: any Python 3 may do so, on this platform only."""
    from wheel.bdist_wheel import bdist_wheel

    class PlatformWheel(bdist_wheel):
        def get_tag(self):
            python, abi, platform = super().get_tag()
            return ("py3", "none", platform) if library() is not None else (python, abi, platform)

    return PlatformWheel


setup(distclass=PlatformDistribution, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": wheel_command()})
