"""The example provider, with faults: each call takes the next fault for its action from a file, if there is one.

    {"create": ["quota", "hang", "hang_late", "garbage", "never_joins"],
     "delete": ["refused", "runs_on"], "list": ["garbage"]}
"""

import fcntl
import json
import os
import pathlib
import subprocess
import sys
import time

EXAMPLE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"]) / "examples/providers/local_agents.py"


def next_fault(path: str, action: str) -> str:
    with open(path, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        faults = json.load(file)
        fault = faults.get(action, [])[:1]
        faults[action] = faults.get(action, [])[1:]
        file.seek(0)
        file.truncate()
        json.dump(faults, file)
    return fault[0] if fault else ""


def example(call: dict) -> int:
    return subprocess.run([sys.executable, "-B", str(EXAMPLE)], input=json.dumps(call), text=True).returncode


def main() -> int:
    call = json.load(sys.stdin)
    fault = next_fault(call["settings"]["faults"], call["action"])
    with open(call["settings"]["faults"] + ".log", "a") as log:
        log.write(f"{call['action']} {call.get('request', '')} {fault or 'well'}\n")
    if fault == "quota":
        print(json.dumps({"error": {"code": "quota", "message": "limit of 4 instances in this region"}}))
    elif fault == "refused":
        print("the cloud is down", file=sys.stderr)
        return 3
    elif fault == "garbage":
        print("<html>502 Bad Gateway</html>")
    elif fault == "hang":
        time.sleep(3600)
    elif fault == "hang_late":
        example(call)  # it was carried out, and the answer never comes
        time.sleep(3600)
    elif fault == "never_joins":
        call["settings"]["start"] = "sleep 3600"
        return example(call)
    elif fault == "runs_on":
        print("{}")  # it says that it ends the node, and does not
    else:
        return example(call)
    return 0


if __name__ == "__main__":
    sys.exit(main())
