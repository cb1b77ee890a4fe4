"""A program as torchrun would start it, with the standard library alone: ranks add a number each step over sockets.

It writes what it does to the file named first, one JSON line each, so that a test can follow it: its starts, and on
rank 0 each step. It saves its step counter every `every` steps and on SIGTERM, and ends at step `steps`.
Arguments: TRACE STEPS EVERY [exit code to end with at once]
"""

import json
import os
import signal
import socket
import sys
import time

trace_path, steps, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
state_path = os.path.join(os.environ["TIDEPOOL_CHECKPOINT_DIR"], "ring.json")
stop_asked = False


def ask_stop(number, frame):
    global stop_asked
    stop_asked = True


def trace(**fields):
    line = json.dumps({"pid": os.getpid(), "rank": rank, "size": size, **fields}) + "\n"
    descriptor = os.open(trace_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def save(step):
    with open(state_path + ".partial", "w") as file:
        json.dump({"step": step}, file)
    os.replace(state_path + ".partial", state_path)


def load():
    try:
        with open(state_path) as file:
            return json.load(file)["step"]
    except FileNotFoundError:
        return 0


class Peers:
    """Rank 0 listens where MASTER_ADDR and MASTER_PORT say; the others connect to it."""

    def __init__(self):
        where = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        self.files = []
        if rank == 0 and size > 1:
            with socket.create_server(where) as server:
                self.files = [server.accept()[0].makefile("rw") for _ in range(size - 1)]
        elif rank > 0:
            deadline = time.monotonic() + 30
            while not self.files:
                try:
                    self.files = [socket.create_connection(where).makefile("rw")]
                except ConnectionRefusedError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.02)

    def add(self, value):
        """The sum over all ranks. Ends the program if a peer is gone."""
        if rank == 0:
            total = value + sum(int(self.read(file)) for file in self.files)
            for file in self.files:
                self.write(file, total)
            return total
        self.write(self.files[0], value)
        return int(self.read(self.files[0]))

    @staticmethod
    def write(file, value):
        file.write(f"{value}\n")
        file.flush()

    @staticmethod
    def read(file):
        line = file.readline()
        if not line:
            sys.exit("a peer is gone")
        return line


signal.signal(signal.SIGTERM, ask_stop)
names = ["LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "ROLE_RANK", "MASTER_PORT", "TORCHELASTIC_RUN_ID",
         "TORCHELASTIC_RESTART_COUNT", "TIDEPOOL_GENERATION", "TIDEPOOL_SIZE"]
trace(event="start", step=load(), env={name: os.environ.get(name) for name in names},
      linked="TIDEPOOL_AGENT_SOCKET" in os.environ)
if len(sys.argv) > 4:
    sys.exit(int(sys.argv[4]))
peers = Peers()
step = load()
while step < steps:
    if peers.add(1) != size:
        sys.exit("the sum is wrong")
    step += 1
    stopping = peers.add(1 if stop_asked else 0) > 0
    if rank == 0:
        trace(event="step", step=step)
        if step % every == 0 or stopping or step == steps:
            save(step)
    if stopping:
        break
    time.sleep(0.01)
trace(event="end", step=step)
