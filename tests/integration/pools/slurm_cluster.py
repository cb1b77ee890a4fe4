"""munged, slurmctld and several slurmd on this host, out of a private folder, with nothing of the system's own Slurm."""

import os
import pathlib
import shutil
import socket
import subprocess

from cluster import eventually

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol"]
PATH = "/usr/sbin:/usr/bin:/bin"


def why_not():
    missing = [program for program in PROGRAMS if not shutil.which(program, path=PATH)]
    if missing:
        return "Slurm is not installed: " + ", ".join(missing)
    return "" if os.geteuid() == 0 else "slurmd needs root"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class SlurmCluster:
    """`before` goes before each of its commands, as to run them in another network namespace."""

    def __init__(self, folder, nodes=2, before=()):
        self.folder, self.before = pathlib.Path(folder), list(before)
        self.children = []
        self.names = [f"n{i + 1}" for i in range(nodes)]
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}
        for name in ["run", "log", "state", *(f"spool/{name}" for name in self.names)]:
            (self.folder / name).mkdir(parents=True)
        for name in ["", "run", "log"]:
            (self.folder / name).chmod(0o755)
        self.key = self.folder / "munge.key"
        self.key.write_bytes(os.urandom(1024))
        self.key.chmod(0o600)
        self.write_config()
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def write_config(self):
        controller, *ports = free_ports(1 + len(self.names))
        lines = f"""ClusterName=test
SlurmctldHost={socket.gethostname().split(".")[0]}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.folder}/run/munge.sock
CredType=cred/munge
SlurmctldPort={controller}
SlurmctldPidFile={self.folder}/run/slurmctld.pid
StateSaveLocation={self.folder}/state
SlurmdPidFile={self.folder}/run/slurmd-%n.pid
SlurmdSpoolDir={self.folder}/spool/%n
SlurmdLogFile={self.folder}/log/%n.log
SlurmctldLogFile={self.folder}/log/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PropagateResourceLimits=NONE
SlurmdParameters=config_overrides
KillWait=5
NodeName=DEFAULT CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=2000 State=UNKNOWN
PartitionName=p Nodes={",".join(self.names)} Default=YES MaxTime=INFINITE State=UP
"""
        for name, port in zip(self.names, ports):
            lines += f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port}\n"
        (self.folder / "slurm.conf").write_text(lines)

    def spawn(self, name, *command):
        with open(self.folder / "log" / (name + ".out"), "w") as log:
            self.children.append(subprocess.Popen([*self.before, *command], env=self.environment, stdout=log,
                                                  stderr=log, stdin=subprocess.DEVNULL))

    def start(self):
        run = self.folder / "run"
        self.spawn("munged", "munged", "-f", "-F", f"--key-file={self.key}", "-S", f"{run}/munge.sock",
                   f"--pid-file={run}/munged.pid", f"--log-file={self.folder}/log/munged.log",
                   f"--seed-file={run}/seed")
        self.must(lambda: (run / "munge.sock").exists(), "munged")
        self.spawn("slurmctld", "slurmctld", "-D", "-f", self.environment["SLURM_CONF"])
        self.must(lambda: "UP" in self.ask("scontrol", "ping"), "slurmctld")
        for name in self.names:
            self.spawn(name, "slurmd", "-D", "-N", name, "-f", self.environment["SLURM_CONF"])
        self.must(lambda: self.ask("sinfo", "-h", "-N", "-t", "idle").count("\n") == len(self.names), "slurmd")

    def must(self, condition, what):
        if not eventually(condition, 60, 0.1):
            texts = [path.read_text(errors="replace")[-1500:] for path in (self.folder / "log").iterdir()]
            logs = "\n".join(texts)
            raise RuntimeError(f"{what} does not start:\n{logs}")

    def ask(self, *command):
        return subprocess.run([*self.before, *command], env=self.environment, capture_output=True, text=True,
                              timeout=60).stdout

    def jobs(self):
        """State by job name, of jobs that wait or run."""
        lines = self.ask("squeue", "-h", "-o", "%j %T").splitlines()
        return dict(line.split(None, 1) for line in lines)

    def close(self):
        if len(self.children) > 2:
            self.ask("scancel", "--user=root")
            eventually(lambda: not self.jobs(), 30, 0.2)
        for child in reversed(self.children):
            child.terminate()
        for child in self.children:
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
