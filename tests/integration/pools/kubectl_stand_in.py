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
    objects = [json.loads(text) for text in sys.stdin.read().split("\n---\n")]
    if dry_run:
        print("\n".join(map(json.dumps, objects)))
        return
    [pod] = objects
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
        note_end = ["/bin/sh", "-c", '"$@"; echo $? >"$0"', str(PODS / f"{name}.exit")]
        process = subprocess.Popen([*note_end, *container["command"], *container.get("args", [])],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
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
        pod["status"] = {"phase": "Running"} if lives(pod["pid"]) else end_of(pod)
    print(json.dumps({"items": pods}))


def end_of(pod):
    exit_file = PODS / f"{pod['metadata']['name']}.exit"
    if not exit_file.exists():
        return {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}
    code = int(exit_file.read_text())
    ended = {"exitCode": code, "reason": "Error" if code else "Completed"}
    return {"phase": "Failed" if code else "Succeeded",
            "containerStatuses": [{"name": pod["spec"]["containers"][0]["name"], "state": {"terminated": ended}}]}


def logs(name):
    if not (PODS / f"{name}.json").exists() or not (PODS / f"{name}.exit").exists():
        fail(f'Error from server (NotFound): pods "{name}" not found')
    print((PODS / f"{name}.log").read_text().splitlines()[-1])


def main():
    words = sys.argv[1:]
    if words[:2] != ["--namespace", "training"]:
        fail(f"error: which namespace? {words}")
    verb, rest = words[2], words[3:]
    if verb == "create" and rest[-2:] == ["-f", "-"]:
        create("--dry-run=client" in rest)
    elif verb == "delete" and rest[0] == "pod" and rest[2:] == ["--ignore-not-found", "--wait=false"]:
        delete(rest[1])
    elif verb == "logs" and rest[1:] == ["--all-containers", "--tail=1"]:
        logs(rest[0])
    elif verb == "get" and rest[:2] == ["pods", "-l"] and rest[3:] == ["-o", "json"]:
        get(rest[2])
    else:
        fail(f"error: unknown command {words}")


main()
