#!/usr/bin/env python3
"""Checks what a compiler cannot: which folder may include which, that the pure folders stay pure, and sizes.

Run by `ctest -L lint`. Prints one line per finding and exits 1 if there is any. With --self-test it plants each
kind of fault in a text and fails if one of them goes unnoticed.
"""
import pathlib
import posixpath
import re
import subprocess
import sys

# Folder -> folders it may include besides itself, each with what lies below it. The most specific prefix wins. Between
# any two folders, whatever their depth, arrows go one way only: cycle_findings().
CORE = ["core/money", "core/state", "core/words", "core/codec", "core/tenants", "core/facts", "core/place",
        "core/provision", "core/validate", "core/decide", "core/engine", "core/explain"]
LIVE = [f"schedulerd/live/{part}" for part in ("service", "providers", "setup", "store", "policies", "agents")]
MAY_INCLUDE = {
    "base": [],
    "tls": ["base"],
    "api": ["base"],
    # The core's folders in the order in which data flows; each may include those before it that are named.
    "core/money": ["base"],
    "core/state": ["base", "core/money"],
    "core/words": ["base", "core/state"],
    "core/codec": ["base", "core/money", "core/state"],
    "core/tenants": ["base", "core/state"],
    "core/facts": ["base", "core/state", "core/words", "core/codec", "core/tenants"],
    "core/place": ["base", "core/state"],
    "core/provision": ["base", "core/state", "core/tenants"],
    "core/validate": ["base", "core/state", "core/place", "core/provision"],
    "core/decide": ["base", "core/state", "core/words", "core/tenants", "core/facts", "core/place", "core/provision",
                    "core/validate"],
    "core/engine": ["base", "core/state", "core/tenants", "core/facts", "core/place", "core/provision", "core/validate",
                    "core/decide"],
    "core/explain": ["base", "core/state", "core/words", "core/tenants", "core/facts", "core/place", "core/provision",
                     "core/decide", "core/engine"],
    "straggler": ["base"],
    "policies": ["base", *CORE],
    "policies/host": ["base", *CORE, "policies"],       # impure: it starts and watches a process
    "policies/host/process": ["base", "policies/host"],  # what runs inside; knows nothing of the scheduler
    "forecast": ["base", *CORE, "policies"],
    "schedulerd/leader": ["base", "api", *CORE],
    "sim": ["base", "api", *CORE, "policies", "straggler", "schedulerd/leader", "workers/agent/state"],
    "studies": ["base", *CORE, "policies", "forecast", "straggler", "sim"],
    # The daemon's impure half, likewise in an order; its folders see what is below them, the loop sees all but http.
    "schedulerd/live/service": ["base", "api", *CORE, "policies/host", "forecast", "schedulerd/leader"],
    "schedulerd/live/providers": ["base", *CORE, "policies/host", "schedulerd/leader", "schedulerd/live/service"],
    "schedulerd/live/setup": ["base", "tls", "api", "schedulerd/live/providers"],
    "schedulerd/live/store": ["base", "api", *CORE, "policies", "policies/host", "schedulerd/leader",
                              "schedulerd/live/setup", "schedulerd/live/service"],
    "schedulerd/live/policies": ["base", *CORE, "policies", "policies/host", "schedulerd/leader",
                                 "schedulerd/live/setup", "schedulerd/live/service", "schedulerd/live/store"],
    "schedulerd/live/agents": ["base", "tls", "api", *CORE, "policies/host", "schedulerd/leader",
                               "schedulerd/live/setup", "schedulerd/live/service"],
    "schedulerd/live": ["base", "tls", "api", *CORE, "policies", "policies/host", "forecast", "straggler", "schedulerd/leader",
                        *LIVE],
    "schedulerd/live/http": ["base", "tls", "api", *CORE, "policies", "policies/host", "forecast", "straggler", "schedulerd/leader",
                             *LIVE, "webui"],
    "schedctl": ["base", "tls", "api", *CORE, "policies", "policies/host"],
    "schedctl/studies": ["base", "api", *CORE, "policies", "policies/host", "schedulerd/leader", "sim", "studies",
                         "schedctl", "webui"],
    "workers": ["base", "tls", "api", "workers/runtime/numerics", "workers/agent/state"],
    "workers/agent/state": ["base", "api"],              # what an agent decides, pure; the simulator's nodes hold it
    "workers/runtime/numerics": ["base"],
    "webui": [],
}
SOURCES_MAX = 26  # of one folder; a larger one is split by reason to change
# Where the parts meet: these may include anything.
JOINTS = ("main.cpp", "daemon.cpp")

PURE = ("base", *CORE, "schedulerd/leader", "sim", "studies", "policies", "forecast", "straggler", "workers/agent/state",
        "workers/runtime/numerics")
IMPURE = {
    r"\b(system|steady|high_resolution)_clock\b": "time is an input: take an Instant",
    r"\bstd::(mutex|thread|jthread|atomic|future|async|condition_variable)\b": "pure code has one thread",
    r"\bstd::(random_device|mt19937\w*|\w+_distribution|shuffle)\b": "use base/rng.hpp",
    r"\bstd::unordered_(map|set)\b": "its iteration order is not specified: use std::map or a sorted vector",
    r"\b(std::(rand|getenv|time)|(?<!\.)\b(srand|getenv))\s*\(": "chance, environment and time are inputs",
    r"#include <(fstream|filesystem|iostream|thread|mutex|atomic|random|ctime|unistd\.h|sys/.*|netinet/.*|chrono)>":
        "no I/O, threads or clocks here",
}
# The crash report names the broken law and the seed; it is the one thing base writes to the outside.
PURE_EXCEPT = {"base/check.cpp", "base/files/whole_file.cpp", "base/log/open_files.cpp"}

# Reasons are inert (core/state/reason.hpp): code that explains, stores or renders one reads it; code that decides may
# make, copy and compare them. So this header may be included by these alone, and a sentence or a document of a reason,
# from which it could be read back, is closed to what decides.
REASON_READER = re.compile(r"\bcore/state/reason_read\.hpp$|\bcore/codec/reason_numbers\.hpp$")
READS_REASONS = (
    "core/state/reason", "core/words/", "core/codec/", "core/explain/", "core/facts/event_data.cpp",
    "schedulerd/live/http/", "schedulerd/live/turn_log.cpp", "studies/replay/replay_account.cpp",
    "tests/",
)
REASON_TEXT = re.compile(r"\bcore/(words/(sentence|unblock|straggler_words)|codec/codec\w*)\.hpp$")
DECIDES = ("core/decide/", "core/engine/", "core/place/", "core/provision/", "core/tenants/", "core/validate/",
           "policies/", "schedulerd/leader/", "studies/baselines/")
REASON_PARTS = re.compile(
    r"\bReasonAccess\b|\bAnyReason\b|\bsays_the_same\(.*\breason::[A-Z]|[!=]=\s*(core::)?reason::[A-Z]")

BEAST = re.compile(r"#include <boost/beast")
BEAST_UNITS_MAX = 2
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = {".ts": 200, ".tsx": 200}  # markup and tables of samples read better in one line
COLUMNS_MAX_ELSE = 120
LONG_LITERAL = re.compile(r"""R"\w*\(|"(\\.|[^"\\]){40,}"|`[^`]{40,}`|'[^']{40,}'""")
BAD_NAME = re.compile(r"\b(\w*(manager|helper)s?|(\w*_)?(utils?|misc))\b", re.IGNORECASE)
PROMISE = re.compile(r"\b(TODO|FIXME|XXX)\b")
INCLUDE = re.compile(r'^\s*#include "([^"]+)"')


def owner(path: str) -> str:
    return max((f for f in MAY_INCLUDE if path.startswith(f + "/")), key=len, default="")


def is_pure(folder: str) -> bool:
    return folder in PURE


def include_findings(path: str, lines: list[str]):
    folder = owner(path)
    if not folder or path.endswith(JOINTS):
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = owner(match[1])
        if target and target not in (folder, *MAY_INCLUDE[folder]):
            yield f"{path}:{number}: {folder}/ may not include {match[1]}"
        if not target and "/" not in match[1]:
            yield f'{path}:{number}: write "{match[1]}" as a path from the top of the repository'


def reason_findings(path: str, lines: list[str]):
    reads = path.startswith(READS_REASONS)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not reads and match and REASON_READER.search(match[1]):
            yield f"{path}:{number}: reads reasons; what it goes by must be a field of the job ({match[1]})"
        elif not reads and match and path.startswith(DECIDES) and REASON_TEXT.search(match[1]):
            yield f"{path}:{number}: tells reasons, and code that decides does not ({match[1]})"
        elif not reads and REASON_PARTS.search(line):
            yield f"{path}:{number}: takes a reason apart; only reason_read.hpp does"


def folder_of(path: str) -> str:
    return str(pathlib.PurePosixPath(path).parent)


def module_included(path: str, name: str, texts: dict[str, str]):
    """The file that a module of the dashboard imports from beside itself; none: a package, or no module."""
    at = posixpath.normpath(posixpath.join(folder_of(path), name))
    return next((file for file in (at, at + ".ts", at + ".tsx") if file in texts), None)


def includes(texts: dict[str, str]):
    """Pairs of a file and one that it includes or imports. Tests and the joints are no part of it."""
    for path, text in texts.items():
        if path.startswith(("tests/", "examples/")) or path.endswith(JOINTS):
            continue
        if path.endswith((".hpp", ".cpp", ".cu")):
            for match in re.finditer(r'^\s*#include "([^"]+/[^"]+)"', text, re.M):
                yield path, match[1]
        elif path.endswith((".ts", ".tsx")):
            for match in re.finditer(r'^(?:import|export|\}) .*?"(\.[^"]+)"', text, re.M):
                if module := module_included(path, match[1], texts):
                    yield path, module


def folder_arrows(texts: dict[str, str]):
    """Folder -> folder -> one include that makes the arrow."""
    arrows: dict[str, dict[str, str]] = {}
    for path, included in includes(texts):
        source, target = folder_of(path), folder_of(included)
        if source != target:
            arrows.setdefault(source, {}).setdefault(target, f"{path} includes {included}")
    return arrows


def module_arrows(texts: dict[str, str]):
    """Likewise for the modules of the dashboard one by one: they have no headers that could go round."""
    arrows: dict[str, dict[str, str]] = {}
    for path, included in includes(texts):
        if path.endswith((".ts", ".tsx")):
            arrows.setdefault(path, {})[included] = f"{path} imports {included}"
    return arrows


def cycle_findings(texts: dict[str, str]):
    """Folders, and modules of the dashboard, that reach each other: each arrow between direct neighbours on the way."""
    for one, other, include in circles(folder_arrows(texts)):
        yield f"{one}/ and {other}/ include each other, directly or through others: {include}"
    for one, other, _ in circles(module_arrows(texts)):
        yield f"{one} and {other} import each other, directly or through others"


def circles(arrows: dict[str, dict[str, str]]):
    def reached(start: str):
        seen, open_ = set(), [start]
        while open_:
            for target in arrows.get(open_.pop(), {}):
                if target not in seen:
                    seen.add(target)
                    open_.append(target)
        return seen

    reach = {one: reached(one) for one in arrows}
    for one in sorted(arrows):
        for other, include in sorted(arrows[one].items()):
            if one in reach.get(other, ()):
                yield one, other, include


def crowded_findings(paths: list[str]):
    counts: dict[str, int] = {}
    for path in paths:
        if path.endswith((".cpp", ".cu")) and not path.startswith("tests/"):
            counts[folder_of(path)] = counts.get(folder_of(path), 0) + 1
    for folder, count in sorted(counts.items()):
        if count > SOURCES_MAX:
            yield f"{folder}/: {count} sources (limit {SOURCES_MAX}); split it by reason to change"


def purity_findings(path: str, lines: list[str]):
    if not is_pure(owner(path)) or path in PURE_EXCEPT or path.endswith("/main.cpp"):
        return
    for number, line in enumerate(lines, 1):
        code = line if line.startswith("#include") else re.sub(r'//.*|"(\\.|[^"\\])*"', "", line)
        for pattern, advice in IMPURE.items():
            if match := re.search(pattern, code):
                yield f"{path}:{number}: {match[0]} in a pure folder; {advice}"


def function_findings(path: str, lines: list[str]):
    """Top-level functions: the formatter puts their last brace alone in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and line and not line[0].isspace() and line.endswith("{"):
            opener = not re.match(r"(namespace|class|struct|enum|union|extern)\b", line)
            start = number if opener else None
        elif line == "}" and start is not None:
            if number - start - 1 > FUNCTION_LINES_MAX:
                yield f"{path}:{start}: a function of {number - start - 1} lines (limit {FUNCTION_LINES_MAX})"
            start = None
        elif line.startswith("}"):
            start = None


def text_findings(path: str, lines: list[str]):
    if len(lines) > FILE_LINES_MAX:
        yield f"{path}:1: {len(lines)} lines; split it by reason to change (limit {FILE_LINES_MAX})"
    if path.endswith(".hpp") and not any(line.startswith("//") for line in lines[:3]):
        yield f"{path}:1: a header begins by saying what it is"
    columns_max = COLUMNS_MAX.get(pathlib.PurePath(path).suffix, COLUMNS_MAX_ELSE)
    for number, line in enumerate(lines, 1):
        # A message or a document inside a literal is left whole, so that it can be searched for.
        if len(line) > columns_max and not LONG_LITERAL.search(line):
            yield f"{path}:{number}: {len(line)} columns (limit {columns_max})"
        if PROMISE.search(line):
            yield f"{path}:{number}: a promise in the code; open an issue or do it"
        code = re.sub(r'//.*|"(\\.|[^"\\])*"|\btorch(\.nn)?\.utils\b|@contextlib\.contextmanager|\bContextManager\b', "", line)  # their own names
        if (bad := BAD_NAME.search(code)) and not line.lstrip().startswith("#include"):
            yield f"{path}:{number}: {bad[0]}: say what it does, not that it helps"


def findings(path: str, text: str):
    lines = text.splitlines()
    yield from text_findings(path, lines)
    if path.endswith((".hpp", ".cpp")):
        yield from include_findings(path, lines)
        yield from reason_findings(path, lines)
        yield from purity_findings(path, lines)
        yield from function_findings(path, lines)


def tracked(root: pathlib.Path):
    command = ["git", "ls-files", "-co", "--exclude-standard", "*.hpp", "*.cpp", "*.h", "*.ts", "*.tsx", "*.py", "*.cu"]
    listed = subprocess.check_output(command, cwd=root, text=True)
    return [p for p in sorted(set(listed.splitlines())) if (root / p).exists() and p != "tests/lint/lint.py"]


def self_test() -> int:
    body = "\n".join("  x();" for _ in range(FUNCTION_LINES_MAX + 1))
    planted = {
        "core includes policies": ("core/facts/a.cpp", '#include "policies/registry.hpp"'),
        "workers include core": ("workers/agent/a.cpp", '#include "core/engine/engine.hpp"'),
        "what an agent decides includes its sockets": ("workers/agent/state/a.cpp",
                                                       '#include "workers/agent/worker_socket.hpp"'),
        "clock in core": ("core/facts/a.cpp", "auto t = std::chrono::steady_clock::now();"),
        "policies include their host": ("policies/a.cpp", '#include "policies/host/policy_host.hpp"'),
        "the host's process includes policies": ("policies/host/process/a.cpp", '#include "policies/registry.hpp"'),
        "facts include decisions": ("core/facts/a.cpp", '#include "core/engine/engine.hpp"'),
        "the store includes the loop": ("schedulerd/live/store/a.cpp", '#include "schedulerd/live/loop.hpp"'),
        "a handler includes the loop": ("schedulerd/live/http/a.cpp", '#include "schedulerd/live/loop.hpp"'),
        "the daemon includes studies": ("schedulerd/live/a.cpp", '#include "studies/sim_run.hpp"'),
        "a planner reads reasons": ("core/decide/a.cpp", '#include "core/state/reason_read.hpp"'),
        "a policy reads a reason's numbers": ("policies/a.cpp", '#include "core/codec/reason_numbers.hpp"'),
        "a fact takes a reason apart": ("core/facts/a.cpp", "std::get<0>(ReasonAccess::of(job.verdict.reason));"),
        "a planner tells by a sentence": ("core/decide/a.cpp", '#include "core/words/sentence.hpp"'),
        "a planner compares with a reason": ("core/decide/a.cpp", "says_the_same(why, reason::NoNodes{})"),
        "thread in sim": ("sim/a.cpp", "std::thread t;"),
        "unordered in policies": ("policies/a.cpp", "std::unordered_map<int, int> m;"),
        "random device": ("straggler/a.cpp", "std::random_device d;"),
        "file in core": ("core/facts/a.cpp", "#include <fstream>"),
        "long file": ("base/a.cpp", "\n" * (FILE_LINES_MAX + 1)),
        "long function": ("base/a.cpp", "void f() {\n" + body + "\n}"),
        "long line": ("base/a.cpp", "x" * (COLUMNS_MAX_ELSE + 1)),
        "silent header": ("base/a.hpp", "#pragma once"),
        "promise": ("base/a.cpp", "// TODO later"),
        "vague name": ("base/a.cpp", "class SlotManager {};"),
    }
    missed = [name for name, (path, text) in planted.items() if not list(findings(path, text))]
    # Arrows back, which no list of folders forbids, and one folder too full.
    around = {"policies/a/x.cpp": '#include "policies/b/y.hpp"', "policies/b/y.hpp": '#include "policies/a/x.hpp"'}
    back_in_webui = {"webui/src/a.ts": 'import { b } from "./views/b";', "webui/src/views/b.tsx": 'import "../c";',
                     "webui/src/c.ts": ""}
    two_modules = {"webui/src/a.ts": 'import {\n  b,\n} from "./b";', "webui/src/b.tsx": 'import type { A } from "./a";'}
    for name, texts in (("a cycle of folders", around), ("a cycle of folders of the dashboard", back_in_webui),
                        ("two modules that import each other", two_modules)):
        if not list(cycle_findings(texts)):
            missed.append(name)
    if not list(crowded_findings([f"base/x{i}.cpp" for i in range(SOURCES_MAX + 1)])):
        missed.append("a crowded folder")
    for name in missed:
        print(f"planted fault went unnoticed: {name}")
    print(f"{len(planted) + 4 - len(missed)} of {len(planted) + 4} planted faults noticed")
    return 1 if missed else 0


def main(root: pathlib.Path) -> int:
    found = 0
    beast_units = []
    for path in tracked(root):
        text = (root / path).read_text()
        if BEAST.search(text) and not path.startswith("tests/"):
            beast_units.append(path)
        for finding in findings(path, text):
            print(finding)
            found += 1
    texts = {path: (root / path).read_text() for path in tracked(root)}
    for finding in [*cycle_findings(texts), *crowded_findings(list(texts))]:
        print(finding)
        found += 1
    if len(beast_units) > BEAST_UNITS_MAX:
        print(f"Beast is included by {', '.join(beast_units)}; at most {BEAST_UNITS_MAX} units pay for it")
        found += 1
    return 1 if found else 0


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        sys.exit(self_test())
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
