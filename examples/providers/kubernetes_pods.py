#!/usr/bin/env python3
"""A provider of nodes for Tidepool's `exec`: each node is a pod of a Kubernetes cluster, made and ended by kubectl.

    pools:
      list:
        - name: pod
          provider: exec
          command: [python3, examples/providers/kubernetes_pods.py]
          settings:
            manifest: /etc/tidepool/pod.yaml    # see kubernetes_pod.yaml beside this file
            namespace: training                 # (default)
            context: gpu-cluster                # of kubectl's configuration (its current one)
            kubectl: /usr/local/bin/kubectl     # (kubectl, as it is found on PATH)
          slots_per_node: 8
          slot_type: H100
          max: 16
          lead_time: 5m
          timeout: 60s

In the manifest {name}, {slots} and {slot_type} stand for the node's. The pod's name and the labels by which it is found
again are set here. `spec.activeDeadlineSeconds`, if it is set, is the node's lifetime: it is drained before its end.
"""

import datetime
import json
import pathlib
import subprocess
import sys

REQUEST = "tidepool.io/request"
ENDED = ("Succeeded", "Failed")


class Refused(Exception):
    """What kubectl said."""

    def answer(self) -> dict:
        text = str(self)
        return {"error": {"code": "quota" if "exceeded quota" in text else "refused", "message": text}}


def kubectl(settings: dict, *arguments: str, given: str = "") -> str:
    command = [settings.get("kubectl", "kubectl"), "--namespace", settings.get("namespace", "default")]
    if "context" in settings:
        command += ["--context", settings["context"]]
    try:
        done = subprocess.run([*command, *arguments], input=given, capture_output=True, text=True)
    except OSError as error:
        raise Refused(f"{command[0]} cannot be run: {error}") from error
    if done.returncode != 0:
        raise Refused((done.stderr.strip() or f"kubectl ended with {done.returncode}").splitlines()[-1])
    return done.stdout


def pod_name(request: str) -> str:
    return "tidepool-" + request.lower()


def manifest_of(call: dict) -> str:
    try:
        text = pathlib.Path(call["settings"]["manifest"]).read_text()
    except OSError as error:
        raise Refused(f"the manifest cannot be read: {error}") from error
    for word in ("name", "slots", "slot_type"):
        text = text.replace("{" + word + "}", str(call[word]))
    return text


def create(call: dict) -> dict:
    settings, request = call["settings"], call["request"]
    seen = kubectl(settings, "create", "--dry-run=client", "-o", "json", "-f", "-", given=manifest_of(call))
    try:
        pod = json.loads(seen)
    except ValueError as error:  # kubectl prints one object after the other
        raise Refused("the manifest describes several objects, and must describe one Pod") from error
    if pod.get("kind") != "Pod":
        raise Refused(f"the manifest describes a {pod.get('kind')}, and must describe one Pod")
    if pod["spec"].get("restartPolicy", "Always") != "Never":
        raise Refused("the manifest must say restartPolicy: Never; a node that has ended is asked for anew")
    metadata = pod.setdefault("metadata", {})
    metadata.pop("generateName", None)
    metadata["name"] = pod_name(request)
    metadata.setdefault("labels", {})[REQUEST] = request
    try:
        kubectl(settings, "create", "-f", "-", given=json.dumps(pod))
    except Refused as refused:
        if "(AlreadyExists)" not in str(refused):
            raise
    seconds = pod["spec"].get("activeDeadlineSeconds")
    return {"id": pod_name(request), **({"lifetime_s": seconds} if seconds else {})}


def delete(call: dict) -> dict:
    kubectl(call["settings"], "delete", "pod", pod_name(call["request"]), "--ignore-not-found", "--wait=false")
    return {}


def lifetime_of(pod: dict) -> dict:
    seconds, started = pod["spec"].get("activeDeadlineSeconds"), pod.get("status", {}).get("startTime")
    if not seconds:
        return {}
    if started:
        began = datetime.datetime.fromisoformat(started.replace("Z", "+00:00"))
        seconds -= (datetime.datetime.now(datetime.timezone.utc) - began).total_seconds()
    return {"lifetime_s": max(0, round(seconds))}


def say_why_it_failed(settings: dict, pod: dict) -> None:
    """In a line on standard error, for the daemon's log: the pod's own log goes with it."""
    name, status = pod["metadata"]["name"], pod["status"]
    told = [": ".join(status[key] for key in ("reason", "message") if status.get(key))]
    for container in status.get("initContainerStatuses", []) + status.get("containerStatuses", []):
        ended = container.get("state", {}).get("terminated")
        if ended and ended.get("exitCode") != 0:
            told.append(f"{container['name']} ended with {ended.get('exitCode')} ({ended.get('reason', 'no reason')})")
    try:
        told += [f'its log ends with "{line}"' for line in
                 kubectl(settings, "logs", name, "--all-containers", "--tail=1").splitlines()[-1:]]
    except Refused as refused:
        told.append(f"its log cannot be read: {refused}")
    text = f"pod {name} has failed: " + "; ".join(filter(None, told))
    print("".join(letter if letter.isprintable() else " " for letter in text), file=sys.stderr)


def list_nodes(call: dict) -> dict:
    """Pods that have ended cost nothing: they are removed, and are not listed. Those of other daemons are left alone."""
    nodes = []
    for pod in json.loads(kubectl(call["settings"], "get", "pods", "-l", REQUEST, "-o", "json"))["items"]:
        request = pod["metadata"]["labels"][REQUEST]
        phase = pod.get("status", {}).get("phase")
        if not request.startswith(call["cluster"] + "-"):
            continue
        if phase in ENDED:
            if phase == "Failed":
                say_why_it_failed(call["settings"], pod)
            delete({**call, "request": request})
        else:
            nodes.append({"request": request, "id": pod["metadata"]["name"], **lifetime_of(pod)})
    return {"nodes": nodes}


def main() -> int:
    call = json.load(sys.stdin)
    actions = {"create": create, "delete": delete, "list": list_nodes}
    action = actions.get(call.get("action"))
    try:
        if call.get("version") != 1 or action is None:
            raise Refused("only version 1 with create, delete and list")
        answer = action(call)
    except Refused as refused:
        answer = refused.answer()
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
