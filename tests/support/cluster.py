"""A real schedulerd with its agent and workers on loopback, for tests and benchmarks written in Python.

Everything it starts knows the cluster's private folder, by command line or environment; close() ends exactly that.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from typing import Any, Callable, Optional, Sequence


def eventually(condition: Callable[[], Any], seconds: float = 60, every: float = 0.05) -> Any:
    """What `condition` gives once it is true; its last answer at the deadline, which TIDEPOOL_PATIENCE multiplies."""
    deadline = time.monotonic() + seconds * max(1, int(os.environ.get("TIDEPOOL_PATIENCE", "1")))
    while True:
        answer = condition()
        if answer or time.monotonic() > deadline:
            return answer
        time.sleep(every)


class ApiError(RuntimeError):
    """The daemon refused; the text is its answer."""


class Cluster:
    """`bin_dir` holds schedulerd and agentd. Use as a context manager."""

    def __init__(self, bin_dir: str, slots: int = 4, arguments: Sequence[str] = ()) -> None:
        self._bin_dir, self._slots = pathlib.Path(bin_dir), slots
        self._folder = tempfile.TemporaryDirectory(prefix="tidepool-test-")
        self.folder = pathlib.Path(self._folder.name)
        self._errors = open(self.folder / "schedulerd.log", "w")
        self._start(arguments)

    def _start(self, arguments: Sequence[str]) -> None:
        # Programs find Debian's python3, which sees Debian's packages, whatever else is on PATH.
        environment = {**os.environ, "PATH": "/usr/bin:/bin:" + os.environ.get("PATH", "")}
        self._daemon = subprocess.Popen(
            [str(self._bin_dir / "schedulerd"), "--listen", "127.0.0.1:0", "--state-dir",
             str(self.folder / "state"), "--local-slots", str(self._slots), *arguments],
            stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment)
        assert self._daemon.stdout is not None
        line = self._daemon.stdout.readline()
        if not line.startswith("ready "):
            self.close()
            raise RuntimeError(f"schedulerd did not start: {line}")
        self.ready_line = line[len("ready "):]
        ready = json.loads(self.ready_line)
        self.url = self._url = ready["url"]
        if "token_file" in ready:  # told at the first start only
            self._token = pathlib.Path(ready["token_file"]).read_text(encoding="utf-8").strip()
        self.token = self._token = ready.get("token") or self._token

    def restart(self, arguments: Sequence[str] = (), by: signal.Signals = signal.SIGTERM,
                when: Callable[[], Any] = lambda: True) -> None:
        """Ends the daemon and starts it again on the same state, once that is true; agents and workers live on
        meanwhile."""
        self._daemon.send_signal(by)
        self._daemon.wait(60)
        eventually(when)
        if self._daemon.stdout is not None:
            self._daemon.stdout.close()
        self._start(arguments)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._daemon.poll() is None:
            self._daemon.kill()
        self._daemon.wait()
        if self._daemon.stdout is not None:
            self._daemon.stdout.close()
        self._errors.close()
        eventually(lambda: not self._end_processes(), 20)
        self._folder.cleanup()

    def _end_processes(self) -> list[int]:
        found = self.processes()
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return found

    def schedctl(self, *words: object, stdin: str = "", columns: Optional[int] = None,
                 seconds: float = 60) -> tuple[int, str, str]:
        """Runs the command line against this daemon: its exit status, what it says, and its errors."""
        environment = {**os.environ, "TIDEPOOL_URL": self.url, "TIDEPOOL_TOKEN": self.token}
        if columns is not None:
            environment["COLUMNS"] = str(columns)
        done = subprocess.run([str(self._bin_dir / "schedctl"), *map(str, words)], input=stdin, capture_output=True,
                              text=True, timeout=seconds, env=environment)
        return done.returncode, done.stdout, done.stderr

    def processes(self, program: str = "") -> list[int]:
        """Living processes that know this cluster's folder and have `program` in their command line."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                line = (entry / "cmdline").read_bytes()
                knows = str(self.folder).encode() in line + (entry / "environ").read_bytes()
                alive = "\nState:\tZ" not in (entry / "status").read_text()
            except (OSError, ValueError):
                continue
            if knows and alive and program.encode() in line:
                found.append(int(entry.name))
        return found

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            self._url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self._token, "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return json.loads(reply.read() or b"null")
        except urllib.error.HTTPError as error:
            raise ApiError(error.read().decode(errors="replace")) from None

    def submit(self, document: dict[str, Any]) -> str:
        return str(self.call("POST", "/v1/jobs", document)["id"])

    def job(self, job: str) -> dict[str, Any]:
        return dict(self.call("GET", f"/v1/jobs/{job}"))

    def resize(self, job: str, size: int) -> None:
        self.call("POST", f"/v1/jobs/{job}/resize", {"size": size})

    def events(self, kind: Optional[str] = None) -> list[dict[str, Any]]:
        """Of one type, or all, oldest first."""
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self.call("GET", "/v1/events?limit=500" + (f"&cursor={cursor}" if cursor else ""))
            found += [event for event in page["items"] if kind in (None, event["type"])]
            if page["next_cursor"] is None:
                return found
            cursor = page["next_cursor"]

    def logs(self) -> str:
        """What daemon and workers wrote, for the message of a failed check."""
        texts = [(self.folder / "schedulerd.log").read_text()[-4000:]]
        for path in sorted((self.folder / "state").glob("agent/logs/*")):
            texts.append(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}")
        return "\n".join(texts)
