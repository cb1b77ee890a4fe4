"""Hostile jobs, run through a real daemon and agent. With root, what the node says it keeps is denied to each of them.
Without isolation and system call filter all of it succeeds, which shows that the probes are real, and the node says so.
"""

import ctypes
import errno
import os
import pathlib
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.agents_beside import AgentsBeside  # noqa: E402
from tests.support.cluster import eventually  # noqa: E402

HOSTILE = pathlib.Path(__file__).resolve().parent / "hostile.py"
PYTHON = "/usr/bin/python3"
# Not /tmp, of which jobs have their own: what is closed to them there is closed by more than its absence.
tempfile.tempdir = "/var/lib"
# Of this run alone, as are the users: others may test here at the same time.
CANARY = f"canary-{os.getpid()}-6b1f0d"
FIRST_USER = 1_000_000 + os.getpid() % 100_000 * 100
PARTS = ["uid", "mounts", "processes", "devices", "memory", "cpus", "pids", "metadata", "syscalls"]
# Probe -> what of `isolation` denies it.
DENIED_BY = {
    "token": "uid", "agent_state": "uid", "environment": "processes", "memory": "processes", "ptrace": "processes",
    "signal_it": "processes", "files": "mounts", "shared_memory": "mounts", "system_v": "processes",
    "programs": "uid", "descriptors": "uid", "pose": "uid", "devices": "devices", "privileges": "uid",
    "fork_bomb": "pids", "memory_bomb": "memory", "cpus": "cpus", "outlive": "processes",
    "metadata": "metadata", "syscalls": "syscalls"}
ALWAYS_DENIED = {"descriptors", "syscalls"}  # without isolation, too
# A network of the agents' own with a cloud's metadata: a server on all addresses, on its port and on that of DNS.
METADATA = ["169.254.169.254", "fd00:ec2::254"]
BESIDE = ["10.255.7.7", "fd00:7::7"]  # what else an operator may deny
CLOUD = f"""
import selectors, socket, subprocess
def ip(*words):
    subprocess.run(["ip", *words], check=True)
ip("link", "set", "lo", "up")
for address in {METADATA + BESIDE}:
    ip("address", "add", address, "dev", "lo", *(["nodad"] if ":" in address else []))
wait = selectors.DefaultSelector()
for port in (80, 53):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        server = socket.socket(socket.AF_INET6, kind)
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(("::", port))
        if kind == socket.SOCK_STREAM:
            server.listen()
        wait.register(server, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for ready, _ in wait.select():
        if ready.fileobj.type == socket.SOCK_STREAM:
            with ready.fileobj.accept()[0] as link:
                link.sendall(b"credentials")
        else:
            ready.fileobj.sendto(b"credentials", ready.fileobj.recvfrom(64)[1])
"""
# Keeps a state and shared memory, and says what it finds of an earlier worker's.
VICTIM = """
import ctypes, getpass, grp, os, pwd, time
state = os.environ["TIDEPOOL_CHECKPOINT_DIR"] + "/state"
print("found", open(state).read() if os.path.exists(state) else "nothing", flush=True)
os.makedirs(os.path.dirname(state), exist_ok=True)
for path, mode in ((state, 0o600), *((top + os.environ["CANARY"], 0o644) for top in ("/tmp/", "/dev/shm/"))):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, mode), "w") as file:
        file.write(os.environ["CANARY"])
C = ctypes.CDLL(None)
C.shmat.restype = ctypes.c_void_p
segment = C.shmget(0, 4096, 0o1666)  # IPC_PRIVATE, IPC_CREAT
ctypes.memmove(C.shmat(segment, None, 0), os.environ["CANARY"].encode(), len(os.environ["CANARY"]))
C.shmctl(segment, 0, None)  # IPC_RMID: it goes with its last process
print("user", os.getuid(), getpass.getuser(), pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name,
      flush=True)
time.sleep(3600)
"""


def reachable_for_all(path):
    return all(folder.stat().st_mode & 0o001 for folder in [path, *path.parents])


def why_not():
    if os.geteuid() != 0:
        return "users of jobs need root"
    if not reachable_for_all(BIN):
        return f"{BIN} cannot be reached by other users, so their programs cannot be started"
    done = subprocess.run(["unshare", "--mount", "--pid", "--ipc", "--net", "--fork", "true"], capture_output=True)
    if not shutil.which("ip"):
        return "ip is missing; install it with: tools/install-packages --checks"
    return None if done.returncode == 0 else "namespaces cannot be made here"


MISSING = why_not()


def deny_seccomp():
    """In a process before it becomes the agent, which then finds a kernel that takes no filter."""
    number = {"x86_64": 317, "aarch64": 277}[platform.machine()]
    load, equal, answer, invalid, allow = 0x20, 0x15, 0x06, 0x50000 | errno.EINVAL, 0x7FFF0000
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *instruction) for instruction in (
        (load, 0, 0, 0), (equal, 0, 1, number), (answer, 0, 0, invalid), (answer, 0, 0, allow))))
    program = ctypes.create_string_buffer(struct.pack("HP", 4, ctypes.addressof(code)))
    set_no_new_privs, set_seccomp, filtered = 38, 22, 2
    prctl = ctypes.CDLL(None).prctl
    if prctl(set_no_new_privs, 1, 0, 0, 0) != 0 or prctl(set_seccomp, filtered, program) != 0:
        raise OSError("seccomp cannot be denied")


class Pool(AgentsBeside):
    """With one agent, whose bounds the bombs must meet."""

    def __init__(self, isolation, memory, syscall_filter):
        super().__init__(str(BIN))
        self.isolation, self.memory, self.syscall_filter = isolation, memory, syscall_filter
        self.more = []  # options
        self.state = self.folder / "here"
        self.cloud = subprocess.Popen(["unshare", "--net", PYTHON, "-c", CLOUD], stdout=subprocess.PIPE, text=True)
        self.hostile = self.show(HOSTILE)
        try:
            if self.cloud.stdout.readline() != "ready\n":
                raise RuntimeError("no network of the agents' own")
            self.start()
        except Exception:
            self.close()
            raise

    def start(self, prepare=None):
        self.start_agent("here", "--slots", "4", "--isolation", self.isolation, "--memory-per-slot", self.memory,
                         "--syscall-filter", self.syscall_filter, "--processes-per-worker", "100", "--job-uids",
                         f"{FIRST_USER}-{FIRST_USER + 99}", *self.more, before=self.beside_cloud(), prepare=prepare)

    def beside_cloud(self):
        """What a command line begins with."""
        return ["nsenter", f"--net=/proc/{self.cloud.pid}/ns/net"]

    def close(self):
        super().close()
        self.cloud.kill()
        self.cloud.wait()
        self.cloud.stdout.close()

    @property
    def agent(self):
        return self.agents["here"]

    def agent_log(self):
        return self.log_of("here").read_text()

    def stop_agent(self):
        self.agent.terminate()
        self.agent.wait(60)

    def node(self, name="here"):
        return super().node(name)

    def run(self, name, *words, env=None, **resources):
        return self.submit({
            "name": name, "run": {"command": [PYTHON, *words], "env": env or {}},
            "resources": resources, "elastic": {"min": 1, "max": 1}, "batch": {"global": 1},
            "scaling": {"policy": "fixed"}})

    def worker_of(self, job):
        started = [event for event in self.events("worker.started") if event["job"] == job]
        return started[-1]["data"]["worker"] if started else None

    def output(self, job):
        return (self.outputs(job) or [""])[-1]

    def said(self, job, pattern):
        return eventually(lambda: re.search(pattern, self.output(job)), 90)

    def busy(self):
        return [slot for slot in self.node()["slots"] if slot["busy"]]

    def cancel(self, job):
        self.call("DELETE", f"/v1/jobs/{job}")


def processes_named(*words):
    """Pids on the host with exactly this command line."""
    wanted = b"\0".join(word.encode() for word in words) + b"\0"
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == wanted:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


class IsolationTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if MISSING:
            self.skipTest(MISSING)

    def open(self, isolation, memory="256MiB", syscall_filter="on"):
        pool = Pool(isolation, memory, syscall_filter)
        self.addCleanup(pool.close)
        self.assertTrue(eventually(pool.node), pool.logs())
        return pool

    def victim(self, pool):
        job = pool.run("victim", "-c", VICTIM, CANARY, env={"CANARY": CANARY})
        self.assertTrue(pool.said(job, "user"), pool.logs())
        pid = next(pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.is_victim(pid))
        return job, pid

    @staticmethod
    def is_victim(pid):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            return words[0] == PYTHON.encode() and CANARY.encode() in words
        except OSError:
            return False

    def known_to(self, pool, victim, pid, device):
        worker = pool.worker_of(victim)
        known = {
            "token": pool.folder / "state/admin.token", "agent": pool.state, "canary": CANARY, "pid": pid,
            "file": f"/tmp/{CANARY}", "state": pool.state / f"jobs/{victim}/checkpoints/state",
            "log": pool.state / f"logs/{worker}.log", "program": BIN / "tidepool-trainer", "worker": worker,
            "device": device, "processes": 300, "mebibytes": 640, "seconds": 86400 + os.getpid(),
            "addresses": ",".join(METADATA), "port": 80}
        return [f"{key}={value}" for key, value in known.items()]

    def probe(self, pool, name, known):
        """Whether the hostile job reached what it wanted."""
        job = pool.run(name.replace("_", "-"), pool.hostile, name, *known, **({"cpus": 1} if name == "cpus" else {}))
        answered = eventually(lambda: re.search(f"^{name} (succeeded|denied)", pool.output(job), re.M)
                              or pool.job(job)["state"] == "failed" or self.lost_by_memory(pool, job), 90)
        self.assertTrue(answered, f"{name} came to no end\n{pool.logs()}")
        succeeded = re.search(f"^{name} succeeded", pool.output(job), re.M) is not None
        if name == "memory_bomb" and not succeeded:
            self.assertTrue(self.lost_by_memory(pool, job), pool.logs())
        pool.cancel(job)
        self.assertTrue(eventually(lambda: len(pool.busy()) == 1), pool.logs())  # the victim's
        if name == "outlive":
            left = processes_named("sleep", str(86400 + os.getpid()))
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            return bool(left)
        return succeeded

    @staticmethod
    def lost_by_memory(pool, job):
        return any(event["job"] == job and "bound of its memory" in str(event["data"])
                   for event in pool.events("worker.lost"))

    def outcomes(self, pool, names=tuple(DENIED_BY)):
        device = pathlib.Path(f"/dev/tidepool-probe-{os.getpid()}")  # such as a GPU of another job
        os.mknod(device, 0o666 | 0o020000, os.makedev(1, 5))
        self.addCleanup(device.unlink)
        for top in ("/tmp", "/dev/shm"):
            self.addCleanup(pathlib.Path(top, CANARY).unlink, missing_ok=True)
        victim, pid = self.victim(pool)
        known = self.known_to(pool, victim, pid, device)
        outcomes = {name: self.probe(pool, name, known) for name in names}
        self.assertTrue(self.is_victim(pid), "the victim lives on")
        return outcomes

    def test_what_the_node_keeps_is_denied_to_hostile_jobs(self):
        pool = self.open("required")
        told = pool.node()["isolation"]
        self.assertEqual(sorted(told["kept"] + told["missing"]), sorted(PARTS))
        self.assertLessEqual({"uid", "mounts", "processes", "devices"}, set(told["kept"]))
        print("isolation:", ",".join(told["kept"]), "missing:", ",".join(told["missing"]) or "-")
        succeeded = {name for name, reached in self.outcomes(pool).items() if reached}
        self.assertEqual(succeeded, {name for name, part in DENIED_BY.items() if part in told["missing"]}, pool.logs())

    def test_without_isolation_every_probe_but_those_always_denied_succeeds_and_the_node_says_so(self):
        pool = self.open("none")
        told = pool.node()["isolation"]
        self.assertEqual((told["kept"], sorted(told["missing"] + ["syscalls"])), (["syscalls"], sorted(PARTS)))
        outcomes = self.outcomes(pool)
        several_cpus = os.cpu_count() > 1  # else there is none to take
        self.assertEqual({name for name, reached in outcomes.items() if not reached},
                         ALWAYS_DENIED if several_cpus else ALWAYS_DENIED | {"cpus"}, pool.logs())

    def reaches(self, pool, addresses, port=80):
        """Whether a job does."""
        job = pool.run("reach", pool.hostile, "metadata", f"addresses={','.join(addresses)}", f"port={port}")
        told = pool.said(job, "metadata (succeeded|denied)")
        self.assertTrue(told, pool.logs())
        self.assertNotIn("Error", pool.output(job))
        return "metadata succeeded" in pool.output(job)

    def open_with_metadata_denied(self):
        pool = self.open("required")
        if "metadata" in pool.node()["isolation"]["missing"]:
            self.skipTest("this host cannot deny addresses: " + pool.agent_log()[-500:])
        return pool

    def test_root_reaches_the_metadata_that_jobs_cannot_and_jobs_the_names_that_it_resolves(self):
        pool = self.open_with_metadata_denied()
        self.assertFalse(self.reaches(pool, METADATA), pool.logs())
        self.assertTrue(self.reaches(pool, METADATA, port=53), pool.logs())
        self.assertTrue(self.reaches(pool, BESIDE), pool.logs())
        probe = subprocess.Popen([*pool.beside_cloud(), PYTHON, str(HOSTILE), "metadata", "port=80",
                                  f"addresses={','.join(METADATA)}"], stdout=subprocess.PIPE, text=True)
        try:
            reached = probe.stdout.readline()
        finally:
            probe.kill()
            probe.communicate()
        self.assertNotIn("Error", reached)
        for way in ("169.254.169.254 SOCK_STREAM 0 by_connect", "fd00:ec2::254 SOCK_DGRAM 0 by_sendto"):
            self.assertIn(way, reached)

    def test_an_operator_denies_addresses_and_allows_the_metadata(self):
        pool = self.open_with_metadata_denied()
        pool.stop_agent()
        pool.more = ["--metadata", "allow", "--deny-address", "10.255.7.0/24", "--deny-address", BESIDE[1]]
        pool.start()
        told = lambda: pool.node() and "metadata" in pool.node()["isolation"]["missing"]  # noqa: E731
        self.assertTrue(eventually(told), pool.logs())
        self.assertTrue(self.reaches(pool, METADATA), pool.logs())
        self.assertFalse(self.reaches(pool, BESIDE), pool.logs())
        self.assertFalse(self.reaches(pool, BESIDE, port=53), pool.logs())

    def test_addresses_stay_denied_while_the_agent_is_gone_and_when_it_is_back(self):
        pool = self.open_with_metadata_denied()
        job = pool.run("again", pool.hostile, "metadata_again", f"addresses={','.join(METADATA)}", "port=80")
        more_rounds = lambda seen: eventually(  # noqa: E731
            lambda: pool.output(job).count("round: nothing") >= seen + 3, 60)
        self.assertTrue(more_rounds(0), pool.logs())
        pool.agent.kill()
        pool.agent.wait()
        self.assertTrue(more_rounds(pool.output(job).count("round: nothing")), pool.logs())
        pool.start()
        self.assertTrue(eventually(lambda: "adopted" in pool.agent_log()), pool.logs())
        self.assertTrue(more_rounds(pool.output(job).count("round: nothing")), pool.logs())
        self.assertNotIn("round: reached", pool.output(job))

    def test_a_worker_of_an_agent_that_denied_nothing_comes_under_the_check_of_the_one_that_adopts_it(self):
        pool = self.open_with_metadata_denied()
        pool.stop_agent()
        pool.more = ["--metadata", "allow"]
        pool.start()
        told = lambda which: eventually(  # noqa: E731
            lambda: pool.node() and "metadata" in pool.node()["isolation"][which])
        self.assertTrue(told("missing"), pool.logs())
        job = pool.run("again", pool.hostile, "metadata_again", f"addresses={','.join(METADATA)}", "port=80")
        self.assertTrue(pool.said(job, "round: reached"), pool.logs())
        pool.agent.kill()
        pool.agent.wait()
        pool.more = []
        pool.start()
        self.assertTrue(eventually(lambda: "adopted" in pool.agent_log()), pool.logs())
        # One round may have begun before; all that follow find nothing.
        self.assertTrue(pool.said(job, r"(?s)round: nothing.*round: nothing.*round: nothing"), pool.logs())
        self.assertNotIn("round: reached", pool.output(job).partition("round: nothing")[2])
        self.assertTrue(told("kept"), pool.logs())

    def test_an_agent_that_cannot_deny_what_it_is_asked_to_does_not_start(self):
        pool = self.open("none")
        pool.stop_agent()
        pool.more = ["--deny-address", "10.255.7.0/24"]
        pool.start()
        self.assertNotEqual(pool.agent.wait(60), 0)
        self.assertIn("as --deny-address asks: jobs are not isolated here, because --isolation none was given",
                      pool.agent_log())

    def test_without_the_filter_the_kernel_takes_up_system_calls_and_the_node_says_so(self):
        pool = self.open("none", syscall_filter="off")
        self.assertEqual(pool.node()["isolation"]["kept"], [])
        self.assertEqual(self.outcomes(pool, ["syscalls"]), {"syscalls": True}, pool.logs())

    def test_a_kernel_without_filters_is_told_and_refused_where_isolation_is_required(self):
        pool = self.open("none")
        pool.stop_agent()
        pool.start(deny_seccomp)
        told = lambda: pool.node() and pool.node()["isolation"]["kept"] == []  # noqa: E731
        self.assertTrue(eventually(told), pool.logs())
        pool.stop_agent()
        pool.isolation = "required"
        pool.start(deny_seccomp)
        self.assertNotEqual(pool.agent.wait(60), 0)
        self.assertIn("as --isolation required asks: this host's kernel takes no system call filter: Invalid argument; "
                      "--syscall-filter off does without", pool.agent_log())

    def test_the_view_of_files_holds_without_the_filter_against_root_of_a_user_namespace(self):
        pool = self.open("required", syscall_filter="off")
        self.assertIn("syscalls", pool.node()["isolation"]["missing"])
        self.assertEqual(self.outcomes(pool, ["files", "syscalls"]), {"files": False, "syscalls": True}, pool.logs())

    def test_without_isolation_a_slot_is_free_when_what_kept_its_environment_is_dead(self):
        pool = self.open("none")
        sleep = ("sleep", str(2 * 86400 + os.getpid()))
        job = pool.run("outlive", pool.hostile, "outlive", "seconds=" + sleep[1], "marked=yes")
        self.assertTrue(pool.said(job, "outlive succeeded"), pool.logs())
        self.assertTrue(processes_named(*sleep))
        pool.cancel(job)
        self.assertTrue(eventually(lambda: not pool.busy()), pool.logs())
        self.assertEqual(processes_named(*sleep), [])

    def test_a_job_reads_its_own_states_again_after_agent_and_worker_are_gone(self):
        pool = self.open("required")
        job, pid = self.victim(pool)
        user = FIRST_USER + int(job.removeprefix("job-")) % 100
        told = f"user {user} tidepool-job tidepool-job tidepool-job\n"  # by environment, list of users, list of groups
        self.assertEqual(pool.output(job), f"found nothing\n{told}")
        self.assertEqual(pathlib.Path(f"/proc/{pid}").stat().st_uid, user)
        pool.agent.kill()
        pool.agent.wait()
        pool.start()
        self.assertTrue(eventually(lambda: "adopted" in pool.agent_log()), pool.logs())
        self.assertTrue(self.is_victim(pid))
        os.kill(pid, signal.SIGKILL)
        lost = eventually(lambda: pool.events("worker.lost"))
        self.assertEqual(lost[0]["data"]["signal"], 9, pool.logs())
        self.assertTrue(pool.said(job, f"found {CANARY}\n{told}"), pool.logs())

    def test_a_trainer_is_resized_and_outlives_its_agent_in_isolation(self):
        pool = self.open("required", memory="2GiB")  # room for what a sanitizer keeps of freed memory
        text = pool.show_text("the tide comes in and the tide goes out\n" * 400)
        job = pool.submit({
            "name": "confined", "resources": {"gpus_per_worker": 1},
            "run": {"trainer": "charlm", "args": {"data": [str(text)], "steps": 3000, "hidden": 32}},
            "elastic": {"min": 1, "max": 3, "preferred": 2, "cooldown": "0s"},
            "batch": {"global": 96, "per_worker_max": 96}, "scaling": {"policy": "fixed"}})
        at = lambda size: pool.job(job)["size"] == size and pool.job(job)["state"] == "running"  # noqa: E731
        self.assertTrue(eventually(lambda: at(2), 90), pool.logs())
        pool.agent.kill()
        pool.agent.wait()
        pool.start()
        self.assertTrue(eventually(lambda: pool.agent_log().count("adopted") == 2), pool.logs())
        pool.resize(job, 3)
        self.assertTrue(eventually(lambda: at(3), 90), pool.logs())
        self.assertTrue(eventually(lambda: pool.job(job)["state"] in ("succeeded", "failed"), 240), pool.logs())
        self.assertEqual(pool.job(job)["state"], "succeeded", pool.logs())
        self.assertFalse(pool.events("worker.lost"), pool.logs())

    def test_a_program_that_is_started_anew_tells_its_length_in_isolation(self):
        pool = self.open("required")
        tell = ("import os, time\n"
                "open(os.environ['TIDEPOOL_LENGTH_FILE'], 'w').write('{\"steps\": 4321}\\n')\n"
                "time.sleep(3600)")
        job = pool.submit({"name": "long", "elastic": {"min": 1, "max": 1},
                           "run": {"command": [PYTHON, "-c", tell], "resize": "restart"}})
        self.assertTrue(eventually(lambda: pool.job(job)["progress"]["steps_total"] == 4321, 90), pool.logs())

    def bomb(self, pool, name, mebibytes, **resources):
        job = pool.run(name, pool.hostile, "memory_bomb", f"mebibytes={mebibytes}", **resources)
        answered = lambda: "memory_bomb succeeded" in pool.output(job) or self.lost_by_memory(pool, job)  # noqa: E731
        self.assertTrue(eventually(answered, 90), pool.logs())
        return job

    def test_the_memory_that_a_job_asks_for_is_its_bound_and_what_it_is_placed_by(self):
        pool = self.open("required")
        if "memory" in pool.node()["isolation"]["missing"]:
            self.skipTest("this host bounds no memory")
        self.assertEqual(pool.node()["memory_per_slot"], 256 << 20)
        within = self.bomb(pool, "within", 128, memory="192MiB")
        beyond = self.bomb(pool, "beyond", 128, memory="64MiB")  # less than its share, and it takes more than that
        self.assertTrue(self.lost_by_memory(pool, beyond), pool.logs())
        pool.cancel(beyond)
        wide = self.bomb(pool, "wide", 320, memory="448MiB", gpus_per_worker=2)
        self.assertFalse(self.lost_by_memory(pool, within) or self.lost_by_memory(pool, wide), pool.logs())
        self.assertEqual(len(pool.busy()), 3, pool.logs())  # one of `within`, two of `wide`
        nowhere = pool.run("nowhere", pool.hostile, "memory_bomb", "mebibytes=16", memory="257MiB")
        why = "cannot start: no node that is up gives 257MiB of memory per slot"
        self.assertTrue(eventually(lambda: pool.job(nowhere)["reason"]["text"] == why, 30), pool.job(nowhere))

    def test_a_program_that_its_user_cannot_reach_is_a_mistake_of_the_job(self):
        pool = self.open("required")
        closed = pool.folder / "closed.sh"
        closed.write_text("#!/bin/sh\n")
        closed.chmod(0o755)
        job = pool.submit({"name": "closed", "run": {"command": [str(closed)]}, "elastic": {"min": 1, "max": 1},
                           "batch": {"global": 1}, "scaling": {"policy": "fixed"}})
        self.assertTrue(eventually(lambda: pool.job(job)["state"] == "failed", 60), pool.logs())
        told = str(pool.events("worker.lost") + pool.events("job.failed"))
        self.assertIn("for the job's own user, in its view", told)
        below = tempfile.mkdtemp(dir="/tmp")
        self.addCleanup(os.rmdir, below)
        job = pool.submit({"name": "below-tmp", "run": {"command": ["/bin/true"], "workdir": below},
                           "elastic": {"min": 1, "max": 1}, "batch": {"global": 1}, "scaling": {"policy": "fixed"}})
        self.assertTrue(eventually(lambda: pool.job(job)["state"] == "failed", 60), pool.logs())
        self.assertIn("an isolated job has a /tmp of its own", str(pool.events("worker.lost")))


if __name__ == "__main__":
    result = unittest.main(verbosity=2, exit=False).result
    if MISSING:
        print("skipped:", MISSING)
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
