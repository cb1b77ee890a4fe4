#!/usr/bin/env python3
"""What the build of tools/quickstart costs from nothing, against the same of an older commit, one after the other.

usage: build_bench.py [--baseline COMMIT]     default 572d46b, the commit before headers were precompiled
Both are taken from git, so changes that are not committed are not measured. ccache is off. Wants a quiet machine.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def run(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "CCACHE_DISABLE": "1"})
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def measured(commit, folder):
    """Processor seconds of the build; configuring and fetching npm packages come before."""
    tree = folder / commit
    run(["git", "clone", "-q", "--no-checkout", str(SOURCE), str(tree)], folder)
    run(["git", "checkout", "-q", commit], tree)
    targets = re.search(r"--build --preset release --target (.*)", (tree / "tools/quickstart").read_text())[1].split()
    quick = ["-DTIDEPOOL_UNITY=ON", "-DTIDEPOOL_QUICK_BUILD=ON", "-DTIDEPOOL_STUDIES=OFF"]
    run(["cmake", "--preset", "release", *quick], tree)
    run(["cmake", "--build", "--preset", "release", "--target", "webui_packages"], tree)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(["cmake", "--build", "--preset", "release", "--target", *targets], tree)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--baseline", default="572d46b")
    baseline_commit = parser.parse_args().baseline
    with tempfile.TemporaryDirectory(prefix="tidepool-build-") as folder:
        baseline = measured(baseline_commit, pathlib.Path(folder))
        print(f"{baseline_commit}: {baseline:.0f} s", file=sys.stderr)
        ours = measured("HEAD", pathlib.Path(folder))
    print(json.dumps({"bench": "build", "metric": "quickstart_build_cpu", "value": round(ours, 1), "unit": "s",
                      "baseline": round(baseline, 1), "ratio": round(ours / baseline, 4), "than": baseline_commit}))


if __name__ == "__main__":
    main()
