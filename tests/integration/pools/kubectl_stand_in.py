"""Stands in for kubectl and a cluster behind it, as far as examples/providers/kubernetes_pods.py uses them: a pod is a
file in the folder KUBECTL_PODS and a process that runs its container's command. Manifests are read as JSON.

A file "quota" in that folder has the number of pods that may be; what is refused is said in kubectl's words.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

PODS = pathlib.Path(os.environ["KUBECTL_PODS"])


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(1)


def lives(pid):
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def create(dry_run):
    pod = json.load(sys.stdin)
    if dry_run:
        print(json.dumps(pod))
        return
    name = pod["metadata"]["name"]
    place = PODS / f"{name}.json"
    if place.exists():
        fail(f'Error from server (AlreadyExists): error when creating "STDIN": pods "{name}" already exists')
    quota = PODS / "quota"
    if quota.exists() and len(list(PODS.glob("*.json"))) >= int(quota.read_text()):
        fail(f'Error from server (Forbidden): error when creating "STDIN": pods "{name}" is forbidden: exceeded quota: '
             f"gpus, requested: pods=1, used: pods={quota.read_text()}, limited: pods={quota.read_text()}")
    container = pod["spec"]["containers"][0]
    with open(PODS / f"{name}.log", "w") as log:
        process = subprocess.Popen([*container["command"], *container.get("args", [])], stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, start_new_session=True)
    place.write_text(json.dumps({**pod, "pid": process.pid}))


def delete(name):
    place = PODS / f"{name}.json"
    if place.exists():
        try:
            os.killpg(json.loads(place.read_text())["pid"], signal.SIGKILL)
        except ProcessLookupError:
            pass
        place.unlink()


def get(label):
    pods = [json.loads(place.read_text()) for place in sorted(PODS.glob("*.json"))]
    pods = [pod for pod in pods if label in pod["metadata"]["labels"]]
    for pod in pods:
        pod["status"] = {"phase": "Running" if lives(pod["pid"]) else "Failed"}
    print(json.dumps({"items": pods}))


def main():
    words = sys.argv[1:]
    if words[:2] != ["--namespace", "training"]:
        fail(f"error: which namespace? {words}")
    verb, rest = words[2], words[3:]
    if verb == "create" and rest[-2:] == ["-f", "-"]:
        create("--dry-run=client" in rest)
    elif verb == "delete" and rest[0] == "pod" and rest[2:] == ["--ignore-not-found", "--wait=false"]:
        delete(rest[1])
    elif verb == "get" and rest[:2] == ["pods", "-l"] and rest[3:] == ["-o", "json"]:
        get(rest[2])
    else:
        fail(f"error: unknown command {words}")


main()
