"""A daemon without a node of its own, agents beside it as nodes of this host, and a folder that isolated jobs can read."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any, Callable, Optional, Sequence

from tests.support.cluster import Cluster


class AgentsBeside(Cluster):
    """Node NAME keeps its state in the cluster's folder NAME and its log in NAME.log there. `public`: jobs may see
    neither the host's /tmp nor the checkout, so set tempfile.tempdir to a folder that they see."""

    def __init__(self, bin_dir: str) -> None:
        self.agents: dict[str, subprocess.Popen[bytes]] = {}
        self.public = pathlib.Path(tempfile.mkdtemp(prefix="tidepool-test-"))
        self.public.chmod(0o755)
        super().__init__(bin_dir, slots=0)

    def start_agent(self, name: str, *arguments: str, before: Sequence[str] = (),
                    prepare: Optional[Callable[[], None]] = None) -> None:
        """`before` its command line, such as unshare(1); `prepare` is called in its process."""
        with open(self.log_of(name), "a") as log:
            self.agents[name] = subprocess.Popen(
                [*before, str(self._bin_dir / "agentd"), "--daemon-socket", str(self.folder / "state/agent.sock"),
                 "--token-file", str(self.folder / "state/agent.token"), "--state-dir", str(self.folder / name),
                 "--node", name, "--stop-workers", *arguments], stdout=log, stderr=log, preexec_fn=prepare)

    def log_of(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}.log"

    def node(self, name: str) -> Any:
        """None until it is up."""
        nodes = [node for node in self.call("GET", "/v1/nodes")["items"] if node["name"] == name]
        return nodes[0] if nodes and nodes[0]["state"] == "up" else None

    def show(self, file: pathlib.Path) -> str:
        """Where jobs read a copy of it."""
        copy = shutil.copy(file, self.public)
        os.chmod(copy, 0o644)
        return copy

    def show_text(self, text: str) -> pathlib.Path:
        path = self.public / "text.txt"
        path.write_text(text)
        path.chmod(0o644)
        return path

    def outputs(self, job: str) -> list[str]:
        """What each of its workers wrote so far, in the order of their starts."""
        workers = [event["data"]["worker"] for event in self.events("worker.started") if event["job"] == job]
        paths = [next(self.folder.glob(f"*/logs/{worker}.log"), None) for worker in workers]
        return [path.read_text(errors="replace") if path else "" for path in paths]

    def logs(self) -> str:
        texts = [super().logs()]
        for path in [*map(self.log_of, self.agents), *sorted(self.folder.glob("*/logs/*"))]:
            texts.append(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}")
        return "\n".join(texts)

    def close(self) -> None:
        for agent in self.agents.values():
            agent.terminate()
        for agent in self.agents.values():
            try:
                agent.wait(60)
            except subprocess.TimeoutExpired:
                agent.kill()
                agent.wait()
        shutil.rmtree(self.public, ignore_errors=True)
        super().close()
