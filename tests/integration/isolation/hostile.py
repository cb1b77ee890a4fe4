"""What a hostile job tries: `hostile.py PROBE KEY=VALUE...`. Prints one line: `PROBE succeeded` or `PROBE denied`,
and why. Values are what an attacker could know: pids, paths and ids on the host.
"""

import ctypes
import errno
import glob
import json
import os
import platform
import signal
import socket
import stat
import sys
import time

C = ctypes.CDLL(None, use_errno=True)
MSG_FASTOPEN, MPTCP, NO_MPTCP = 0x20000000, 262, (errno.EPROTONOSUPPORT, errno.ENOPROTOOPT, errno.EOPNOTSUPP)
SHM_RDONLY, FAILED = 0o10000, ctypes.c_void_p(-1).value
CLONE_NEWNS, CLONE_NEWUSER, MNT_DETACH, PTRACE_SEIZE, PTRACE_DETACH = 0x20000, 0x10000000, 2, 0x4206, 17
# That the C library has no functions for.
NUMBERS = {"x86_64": {"keyctl": 250, "perf_event_open": 298, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425},
           "aarch64": {"keyctl": 219, "perf_event_open": 241, "bpf": 280, "userfaultfd": 282, "io_uring_setup": 425}}


def must(answer):
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def read(path):
    with open(path, "rb") as file:
        return file.read(4096)


def token(known):
    return read(known["token"]).startswith(b"tp_") or len(read(known["token"])) > 10


def agent_state(known):
    return len(read(known["agent"] + "/ledger.jsonl")) > 0


def environment(known):
    for path in glob.glob("/proc/[0-9]*/environ"):  # none of its own has the canary
        try:
            if known["canary"].encode() in read(path):
                return True
        except OSError:
            pass
    return False


def memory(known):
    with open(f"/proc/{known['pid']}/maps") as maps:
        place = next(line for line in maps if "[stack]" in line).split("-")[0]
    with open(f"/proc/{known['pid']}/mem", "rb", buffering=0) as mem:
        mem.seek(int(place, 16))
        return len(mem.read(64)) == 64


def ptrace(known):
    C.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    must(C.ptrace(PTRACE_SEIZE, int(known["pid"]), None, None))
    return True


def signal_it(known):
    os.kill(int(known["pid"]), 0)
    return True


def files(known):
    for path in (known["file"], known["state"], known["log"]):
        try:
            if known["canary"].encode() in read(path):
                return True
        except OSError:
            pass
    # Root of a user namespace of its own may unmount what it has mounted, and nothing else.
    must(C.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    for at in ("/tmp", "/proc", "/dev/shm", known["agent"]):
        C.umount2(at.encode(), MNT_DETACH)
    return known["canary"].encode() in read(known["file"])


def shared_memory(known):
    return known["canary"].encode() in read("/dev/shm/" + known["canary"])


def system_v(known):
    """The canary in any segment of System V's shared memory that can be found."""
    C.shmat.restype = ctypes.c_void_p
    with open("/proc/sysvipc/shm") as segments:
        for line in list(segments)[1:]:
            at = C.shmat(int(line.split()[1]), None, SHM_RDONLY)
            if at != FAILED and known["canary"].encode() in ctypes.string_at(at, len(known["canary"])):
                return True
    return False


def programs(known):
    """The programs of the agent, which other jobs run next. Nothing is written."""
    try:
        open(known["program"], "r+b").close()
    except OSError as error:
        return error.errno == errno.ETXTBSY  # it runs just now, and else could be written
    return True


def descriptors(known):
    """Any that the agent, or what it started this with, has left open."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            os.fstat(int(name))  # not the one of the listing itself
            found.append(int(name))
        except OSError:
            pass
    print("open:", found, flush=True)
    return not set(found) <= {0, 1, 2}


def pose(known):
    link = socket.socket(socket.AF_UNIX)
    link.connect(os.environ["TIDEPOOL_AGENT_SOCKET"])
    link.sendall(json.dumps({"type": "hello", "protocol": 1, "worker": known["worker"], "pid": 1}).encode() + b"\n")
    link.settimeout(5)
    try:
        return link.recv(1) != b""
    except socket.timeout:
        return True  # it is listened to


def devices(known):
    if os.path.exists(known["device"]):
        return True
    os.mknod("/tmp/device", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    return len(read("/tmp/device")) > 0


def privileges(known):
    told = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(told[name], 16) != 0]
    groups = [group for group in os.getgroups() if group != os.getgid()]
    return os.getuid() == 0 or os.getgid() == 0 or bool(held) or bool(groups) or told["NoNewPrivs"].strip() != "1"


def fork_bomb(known):
    children = []
    try:
        for _ in range(int(known["processes"])):
            child = os.fork()
            if child == 0:
                time.sleep(600)
                os._exit(0)
            children.append(child)
        return True
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)


def memory_bomb(known):
    held = [bytearray(os.urandom(1 << 20) * 16) for _ in range(int(known["mebibytes"]) // 16)]
    return len(held) > 0


def cpus(known):
    os.sched_setaffinity(0, range(os.cpu_count()))
    return len(os.sched_getaffinity(0)) > 1


def call_of(name, *words):
    return lambda: must(C.syscall(NUMBERS[platform.machine()][name], *map(ctypes.c_long, words)))


def syscalls(known):
    """True if the kernel takes up any of them, be it only to say that an argument is wrong."""
    attempts = {
        "user namespace": lambda: must(C.unshare(CLONE_NEWUSER)),
        "mount": lambda: must(C.mount(None, b"/nowhere", b"tmpfs", 0, None)),
        "keyctl": call_of("keyctl", 0, -3, 0), "perf_event_open": call_of("perf_event_open", 0, 0, -1, -1, 0),
        "bpf": call_of("bpf", -1, 0, 0), "userfaultfd": call_of("userfaultfd", -1),
        "io_uring": call_of("io_uring_setup", 0, 0), "AF_ALG": lambda: socket.socket(38, socket.SOCK_SEQPACKET),
        "AF_PACKET": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)}
    taken = []
    for name, attempt in attempts.items():
        try:
            attempt()
            taken.append(name)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT):
                taken.append(name)
    print("taken up:", ", ".join(taken) or "nothing", flush=True)
    return bool(taken)


def answers(link, kind):
    """Whether the other end says anything; a datagram asks for it first."""
    link.settimeout(5)
    if kind == socket.SOCK_DGRAM:
        link.send(b"credentials?")
    return link.recv(64) != b""


def by_connect(family, kind, protocol, to):
    with socket.socket(family, kind, protocol) as link:
        link.connect(to)
        return answers(link, kind)


def by_sendto(family, kind, protocol, to):
    with socket.socket(family, kind, protocol) as link:
        link.sendto(b"credentials?", MSG_FASTOPEN if kind == socket.SOCK_STREAM else 0, to)
        link.settimeout(5)
        return link.recv(64) != b""


def metadata(known):
    """True if a server at any of the addresses answers, whatever the way to it. Of what the kernel has, only EPERM is a denial."""
    reached = []
    for address in known["addresses"].split(","):
        for form in [address] if ":" in address else [address, "::ffff:" + address]:
            family = socket.AF_INET6 if ":" in form else socket.AF_INET
            for kind, protocol in ((socket.SOCK_STREAM, 0), (socket.SOCK_DGRAM, 0), (socket.SOCK_STREAM, MPTCP)):
                for way in (by_connect, by_sendto):
                    try:
                        if way(family, kind, protocol, (form, int(known["port"]))):
                            reached.append(f"{form} {kind.name} {protocol} {way.__name__}")
                    except OSError as error:
                        if error.errno not in (errno.EPERM, *NO_MPTCP):
                            reached.append(f"{form} {kind.name} {protocol} {way.__name__}: {error!r}")
    print("reached:", ", ".join(reached) or "nothing", flush=True)
    return bool(reached)


def metadata_again(known):
    """For as long as it lives."""
    while True:
        print("round:", "reached" if metadata(known) else "nothing", flush=True)
        time.sleep(0.1)


def outlive(known):
    """The test looks for the process that this leaves behind; without `marked` it has no mark of the worker."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            os.execve("/bin/sleep", ["sleep", known["seconds"]], dict(os.environ) if "marked" in known else {})
        os._exit(0)
    time.sleep(1)
    return True


PROBES = {probe.__name__: probe for probe in (
    token, agent_state, environment, memory, ptrace, signal_it, files, shared_memory, system_v, programs, descriptors,
    pose, devices, privileges, fork_bomb, memory_bomb, cpus, outlive, metadata, metadata_again, syscalls)}

name, known = sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])
try:
    outcome, why = PROBES[name](known), ""
except Exception as error:
    outcome, why = False, repr(error)
print(name, "succeeded" if outcome else "denied", why, flush=True)
time.sleep(3600)
