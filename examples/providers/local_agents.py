#!/usr/bin/env python3
"""A provider of nodes for Tidepool's `exec`: each node is an agent on this machine.

It shows all that a provider for a cloud must do (docs/providers.md): one call is one run, a JSON object comes on stdin
and one goes to stdout; each call can be made again; the list has every node that still costs something.

    pools:
      list:
        - name: local
          provider: exec
          command: [python3, examples/providers/local_agents.py]
          settings:
            folder: /var/tmp/tidepool-nodes
            start: agentd --daemon-socket STATE/agent.sock --token-file STATE/agent.token
                   --state-dir {folder} --node {name} --slots {slots}
          slots_per_node: 2
          price_per_slot_hour: "1.00"
          max: 3

An agent is known by the request in its environment, so nothing is remembered beside the agents themselves.
"""

import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

MARK = "TIDEPOOL_NODE_REQUEST"
STOP_SECONDS = 10


def environment_of(pid: int) -> dict:
    try:
        entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        lives = "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    pairs = (entry.decode(errors="replace").partition("=") for entry in entries) if lives else ()
    return {name: value for name, _, value in pairs}


def processes(request: str = "") -> dict:
    """Request by process, of all agents, or of one request's."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            mark = environment_of(int(entry.name)).get(MARK, "")
            if mark and request in ("", mark):
                found[int(entry.name)] = mark
    return found


def create(call: dict) -> dict:
    request, settings = call["request"], call["settings"]
    if processes(request):
        return {"id": request}  # asked again: the same node
    limit = settings.get("nodes_max")
    if limit is not None and len(set(processes().values())) >= limit:
        return {"error": {"code": "quota", "message": f"no more than {limit} nodes"}}
    folder = pathlib.Path(settings["folder"]) / request
    folder.mkdir(parents=True, exist_ok=True)
    start = [part.format(name=call["name"], slots=call["slots"], slot_type=call["slot_type"], folder=folder)
             for part in shlex.split(settings["start"])]
    with open(folder / "agent.log", "a") as log:
        # In a session of its own, because it outlives this call.
        subprocess.Popen(start, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                         env={**os.environ, MARK: request})
    return {"id": request}


def delete(call: dict) -> dict:
    request = call["request"]
    deadline = time.monotonic() + STOP_SECONDS
    while True:
        found = processes(request)
        if not found:
            return {}  # also of a node that is not there, or never was
        for pid in found:
            try:
                os.kill(pid, signal.SIGTERM if time.monotonic() < deadline - STOP_SECONDS / 2 else signal.SIGKILL)
            except ProcessLookupError:
                pass
        if time.monotonic() > deadline:
            return {"error": {"code": "refused", "message": f"processes {sorted(found)} do not end"}}
        time.sleep(0.2)


def list_nodes(call: dict) -> dict:
    mine = sorted(set(processes().values()))
    return {"nodes": [{"request": request, "id": request} for request in mine
                      if (pathlib.Path(call["settings"]["folder"]) / request).is_dir()]}


def main() -> int:
    call = json.load(sys.stdin)
    actions = {"create": create, "delete": delete, "list": list_nodes}
    action = actions.get(call.get("action"))
    if call.get("version") != 1 or action is None:
        answer = {"error": {"code": "refused", "message": "only version 1 with create, delete and list"}}
    else:
        answer = action(call)
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
