"""Machines that join a daemon with a token and are nodes by certificate from then on: real programs over real sockets."""
import json
import os
import pathlib
import resource
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import tls_test
from tls_test import BIN, PROGRAMS, eventually, job_on

PATIENCE = 60


class Daemon(tls_test.Daemon):
    """With words for node tokens and agents that join."""

    def ctl(self, *words):
        return self.schedctl(*words, ca=self.ready["ca"])

    def asked(self, *words):
        done = self.ctl(*words, "-o", "json")
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    def node_token(self, *words):
        return self.asked("node", "token", "create", *words)

    def node(self, name):
        return next((node for node in self.asked("nodes") if node["name"] == name), None)

    def is_up(self, name):
        node = self.node(name)
        return node is not None and node["state"] == "up"

    @property
    def address(self):
        return f"{self.host}:{self.ready['agents_port']}"

    def run_agent(self, folder, *words):
        """An agent and its log."""
        log = self.folder / (folder + ".log")
        with open(log, "a") as out:
            process = subprocess.Popen([BIN / "agentd", *words, "--slots", "2", "--isolation", "none",
                                        "--stop-workers", "--state-dir", self.folder / folder], stdout=out, stderr=out)
        self.children.append(process)
        return process, log.read_text

    def join(self, folder, token=None, *words):
        given = ["--token", token] if token else []
        return self.run_agent(folder, "join", "--daemon", self.address, *given, *words)

    def restart(self, how=signal.SIGTERM):
        """At the same port for agents, so that they come back."""
        self.config.write_text(json.dumps({"agents": {"listen": self.address}, "tls": {}}))
        self.process.send_signal(how)
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.log.close()
        self.start()


class NodeLink:
    """Speaks for a node whose agent does not run, with the key and certificate of its state folder."""

    def __init__(self, daemon, state):
        kept = json.loads((state / "node-identity.json").read_text())
        self.node, self.key, shown = kept["node"], state / "key.pem", state / "shown.pem"
        self.key.write_text(kept["key"])
        shown.write_text(kept["certificate"])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(daemon.ready["ca"])
        context.load_cert_chain(shown, self.key)
        plain = socket.create_connection((daemon.host, daemon.ready["agents_port"]), PATIENCE)
        self.link = context.wrap_socket(plain, server_hostname=daemon.host)
        self.lines = self.link.makefile("r")

    def send(self, *messages):
        self.link.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def said(self):
        return json.loads(self.lines.readline())

    def say_hello(self):
        self.send({"type": "hello", "protocol": 1, "token": "", "node": self.node, "slots": 1, "slot_type": "cpu",
                   "price_per_slot_hour": "1", "running": []})

    def renewal(self):
        done = subprocess.run(["openssl", "req", "-new", "-key", self.key, "-subj", "/CN=node"], capture_output=True,
                              text=True, check=True)
        return {"type": "certificate_request", "protocol": 1, "token": "", "node": self.node, "request": done.stdout}

    def close(self):
        self.lines.close()
        self.link.close()


@unittest.skipUnless(all((BIN / name).exists() for name in PROGRAMS), "build the whole project")
class Join(unittest.TestCase):
    def daemon(self, **how):
        folder = tempfile.TemporaryDirectory(prefix="tidepool-join-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        daemon = Daemon(self.folder, **how)
        self.addCleanup(daemon.close)
        return daemon

    def soon(self, holds, told=lambda: ""):
        self.assertTrue(eventually(holds, PATIENCE), told())

    def refused(self, daemon, agent, words):
        """The agent says so and ends, and the daemon's log has it, with its quotes escaped."""
        process, log = agent
        self.assertEqual(process.wait(PATIENCE), 1, log())
        self.assertIn(words, log())
        self.soon(lambda: words.replace('"', '\\"') in daemon.logged(), daemon.logged)

    def told(self, agent, words):
        """The agent says so and goes on trying."""
        self.soon(lambda: words in agent[1](), agent[1])
        self.assertIsNone(agent[0].poll())

    def test_machines_join_train_and_come_back_without_a_token(self):
        daemon = self.daemon()
        token = daemon.node_token("--uses", "2", "--labels", "rack=r1,zone=a", "--price", "2.50", "--slot-type",
                                  "small")
        for name in ("one", "two"):
            agent = daemon.join(name, token["token"], "--name", name)
            self.soon(lambda: daemon.is_up(name), agent[1])
        node = daemon.node("one")
        self.assertEqual(node["access"]["by"], "certificate")
        self.assertGreater(node["access"]["valid_until"], "2026")
        self.assertEqual((node["labels"], node["slot_type"], node["price_per_slot_hour"]),
                         ({"rack": "r1", "zone": "a"}, "cpu", "2.50"))  # not for CPU slots
        kept = self.folder / "one/node-identity.json"
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        self.assertFalse((self.folder / "one/node-joining.json").exists())
        for secret in (token["token"].split("_")[2], json.loads(kept.read_text())["key"].splitlines()[1]):
            self.assertNotIn(secret.encode(), b"".join(
                f.read_bytes() for f in (self.folder / "state").iterdir() if f.is_file()) + daemon.logged().encode())
        job = self.folder / "job.yaml"
        job.write_text(json.dumps(job_on(self.folder)))
        done = daemon.ctl("submit", "--wait", str(job))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([t["state"] for t in daemon.asked("node", "token", "ls")], ["used_up"])
        self.refused(daemon, daemon.join("three", token["token"], "--name", "three"), "is used up")
        # The certificate is enough, with either command, also after the daemon's restart.
        agent[0].terminate()
        agent[0].wait()
        daemon.restart()
        agent = daemon.run_agent("two")
        self.soon(lambda: agent[1]().count("the daemon knows this node") == 2, agent[1])
        agent[0].terminate()
        agent[0].wait()
        agent = daemon.join("two", token["token"])
        self.soon(lambda: agent[1]().count("the daemon knows this node") == 3, agent[1])
        self.assertIn("its certificate is used, and no token", agent[1]())

    def test_tokens_that_are_expired_revoked_foreign_or_for_other_names_let_no_machine_in(self):
        daemon = self.daemon()
        short = daemon.node_token("--ttl", "1s")
        self.soon(lambda: daemon.asked("node", "token", "ls")[0]["state"] == "expired")
        self.refused(daemon, daemon.join("a", short["token"], "--name", "a"), "has expired; ask an admin for a new one")
        gone = daemon.node_token()
        self.assertEqual(daemon.ctl("node", "token", "revoke", gone["id"]).returncode, 0)
        self.refused(daemon, daemon.join("b", gone["token"], "--name", "b"), "was revoked; ask an admin for a new one")
        gpus = daemon.node_token("--name-prefix", "gpu-")
        self.refused(daemon, daemon.join("c", gpus["token"], "--name", "c"), 'for names that begin with "gpu-"')
        id_, secret, pin = gpus["token"].split("_")[1:]
        guessed = "_".join(("tpn", id_, "0" * len(secret), pin))
        self.refused(daemon, daemon.join("d", guessed, "--name", "gpu-d"), "has made no such node token")
        self.refused(daemon, daemon.join("d", gpus["token"], "--name", "gpu d"), "a node's name has")
        process, log = daemon.join("d", "tp_of_a_user", "--name", "d")
        self.assertEqual(process.wait(PATIENCE), 1)
        self.assertIn("this is no node token", log())
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        stranger = Daemon(elsewhere)
        self.addCleanup(stranger.close)
        process, log = daemon.join("e", stranger.node_token()["token"], "--name", "e")
        self.assertEqual(process.wait(PATIENCE), 1)
        self.assertIn("certificate is not trusted", log())
        self.assertEqual(daemon.asked("nodes"), [])
        self.assertEqual([t["uses"] for t in daemon.asked("node", "token", "ls")], [0, 0, 0])

    def test_a_machine_that_cannot_be_a_node_as_its_options_ask_does_not_use_up_its_token(self):
        daemon = self.daemon()
        token = daemon.node_token()["token"]
        for options, why in ((["--deny-address", "10.9.0.0/16"], "addresses cannot be denied to jobs here"),
                             (["--data-address", "203.0.113.77"], "is no address of this machine")):
            process, log = daemon.join("a", token, "--name", "a", *options)
            self.assertEqual(process.wait(PATIENCE), 1, log())
            self.assertIn(why, log())
            self.assertEqual([t["uses"] for t in daemon.asked("node", "token", "ls")], [0])
        agent = daemon.join("a", token, "--name", "a")
        self.soon(lambda: daemon.is_up("a"), agent[1])

    def test_a_certificate_that_finds_no_room_is_told_and_asked_for_again_without_a_further_use(self):
        daemon = self.daemon()
        token = daemon.node_token()["token"]
        # The key that is kept before the daemon is asked fits, and both together do not.
        full = subprocess.run([BIN / "agentd", "join", "--daemon", daemon.address, "--token", token, "--name", "a",
                               "--slots", "2", "--isolation", "none", "--state-dir", self.folder / "a"],
                              capture_output=True, text=True, timeout=PATIENCE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700)))
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertIn("cannot write to the state directory: File too large; the daemon has let this machine in: mend "
                      "that and run the same command again with the same state directory", full.stderr)
        agent = daemon.join("a", token, "--name", "a")
        self.soon(lambda: daemon.is_up("a"), agent[1])
        self.assertEqual([t["uses"] for t in daemon.asked("node", "token", "ls")], [1])

    def test_a_name_belongs_to_one_node_and_an_agent_speaks_for_its_own(self):
        daemon = self.daemon()
        token = daemon.node_token("--uses", "9")["token"]
        agent = daemon.join("a", token, "--name", "a")
        self.soon(lambda: daemon.is_up("a"), agent[1])
        self.refused(daemon, daemon.join("other", token, "--name", "a"),
                     "the name a belongs to a node that has joined")
        shared = daemon.agent("a-too", "--ca", daemon.ready["ca"])
        self.soon(lambda: daemon.is_up("a-too"), shared)
        self.refused(daemon, daemon.join("other", token, "--name", "a-too"), "which is up")
        posing = daemon.run_agent("posing", "--daemon", daemon.address, "--ca", daemon.ready["ca"], "--token-file",
                                  self.folder / "state/agent.token", "--node", "a")
        self.told(posing, "the name a is held by a node that is connected and not this one")
        # A certificate for a, and a hello that says b.
        wrong = self.folder / "wrong"
        wrong.mkdir(mode=0o700)
        kept = json.loads((self.folder / "a/node-identity.json").read_text())
        (wrong / "node-identity.json").write_text(json.dumps({**kept, "node": "b"}))
        (wrong / "node-identity.json").chmod(0o600)
        lies = daemon.run_agent("wrong")
        self.told(lies, "this agent's certificate is for the node a, and it says that it is b")
        lies[0].terminate()
        lies[0].wait()
        self.assertIn("it says that it is b", daemon.logged())
        self.assertTrue(daemon.is_up("a"))
        self.assertIsNone(daemon.node("b"))
        agent[0].terminate()
        agent[0].wait()
        self.told(posing, "the shared token is not taken for it")
        # A certificate of another daemon's authority, for the same name.
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        stranger = Daemon(elsewhere)
        self.addCleanup(stranger.close)
        foreign = stranger.join("a", stranger.node_token()["token"], "--name", "a")
        self.soon(lambda: stranger.is_up("a"), foreign[1])
        theirs = json.loads((elsewhere / "a/node-identity.json").read_text())
        (wrong / "node-identity.json").write_text(json.dumps(
            {**kept, "key": theirs["key"], "certificate": theirs["certificate"]}))
        self.told(daemon.run_agent("wrong"), "another authority has signed it")

    def train_on_a(self, daemon, agent):
        """Node a has joined, and a job that goes on for long is submitted."""
        self.soon(lambda: daemon.is_up("a"), agent[1])
        job = self.folder / "job.yaml"
        spec = job_on(self.folder)
        spec["run"]["args"]["steps"] = 1000000
        job.write_text(json.dumps(spec))
        self.assertEqual(daemon.ctl("submit", str(job)).returncode, 0)

    def test_a_revoked_node_is_shut_out_at_once_and_for_good_until_it_joins_anew(self):
        daemon = self.daemon()
        early = daemon.node_token("--uses", "3")
        agent = daemon.join("a", early["token"], "--name", "a")
        self.train_on_a(daemon, agent)
        self.soon(lambda: any(s["busy"] for s in daemon.node("a")["slots"]), daemon.logged)
        done = daemon.ctl("node", "revoke", "a", "--reason", "stolen")
        self.assertEqual(done.returncode, 0, done.stderr)
        node = daemon.node("a")
        self.assertEqual((node["state"], node["access"]["reason"]), ("lost", "stolen"))
        self.assertTrue(node["access"]["revoked_at"])
        self.assertIn("revoked", daemon.ctl("nodes").stdout)
        self.assertIn("was revoked (stolen)", daemon.ctl("events").stdout)
        self.told(agent, "the certificate of a was revoked (stolen)")
        self.soon(lambda: 'event=agent_refused node="a"' in daemon.logged(), daemon.logged)
        daemon.restart(signal.SIGKILL)
        before = agent[1]().count("was revoked")
        agent[0].terminate()
        agent[0].wait()
        again = daemon.run_agent("a")
        self.soon(lambda: agent[1]().count("was revoked") > before, agent[1])
        again[0].terminate()
        again[0].wait()
        self.assertFalse(daemon.is_up("a"))
        # A token from before the revocation may be in the same hands.
        self.refused(daemon, daemon.join("a", early["token"], "--anew", "--name", "a"), "older than that")
        late = daemon.node_token()["token"]
        agent = daemon.join("a", late, "--anew", "--name", "a")
        self.soon(lambda: daemon.is_up("a"), agent[1])
        self.assertIsNone(daemon.node("a")["access"]["revoked_at"])

    def test_a_certificate_is_renewed_while_workers_go_on_and_an_expired_one_is_refused(self):
        daemon = self.daemon(agents={"certificate_lifetime": "30s"})
        agent = daemon.join("a", daemon.node_token()["token"], "--name", "a")
        self.train_on_a(daemon, agent)
        self.soon(lambda: all(s["busy"] for s in daemon.node("a")["slots"]), daemon.logged)
        kept = self.folder / "a/node-identity.json"
        first, workers = kept.read_text(), daemon.node("a")["slots"]
        until = daemon.node("a")["access"]["valid_until"]
        self.soon(lambda: kept.read_text() != first, agent[1])
        self.assertEqual(json.loads(kept.read_text())["key"], json.loads(first)["key"])
        self.soon(lambda: daemon.node("a")["access"]["valid_until"] > until)
        self.assertEqual(daemon.node("a")["slots"], workers)
        self.assertEqual(agent[1]().count("the daemon knows this node"), 1)
        self.assertNotIn("node.lost", daemon.ctl("events").stdout)
        # The first one, replayed after its time.
        agent[0].terminate()
        agent[0].wait()
        kept.write_text(first)
        time.sleep(31)  # its life
        agent = daemon.run_agent("a")
        self.told(agent, "by the daemon's clock; join anew with a token of this daemon")
        self.soon(lambda: "it has expired" in daemon.logged())
        agent[0].terminate()
        agent[0].wait()
        agent = daemon.join("a", daemon.node_token()["token"])
        process, log = agent
        self.soon(lambda: daemon.is_up("a") or process.poll() is not None, log)
        self.assertTrue(daemon.is_up("a"), log())

    def test_an_authority_that_is_gone_with_its_folder_is_not_made_anew_where_nodes_have_joined(self):
        daemon = self.daemon()
        agent = daemon.join("a", daemon.node_token()["token"], "--name", "a")
        self.soon(lambda: daemon.is_up("a"), agent[1])
        authority, kept = self.folder / "state/tls", self.folder / "kept"
        before = daemon.ready["ca_fingerprint"]
        daemon.stop()
        authority.rename(kept)
        with self.assertRaisesRegex(RuntimeError, "tls is missing, and nodes have joined"):
            daemon.start()
        self.assertEqual(daemon.process.wait(PATIENCE), 2)
        daemon.process.stdout.close()
        self.assertFalse(authority.exists())
        kept.rename(authority)
        daemon.start()
        self.assertEqual(daemon.ready["ca_fingerprint"], before)

    def test_renewals_that_are_asked_for_too_often_cost_no_node_its_link(self):
        daemon = self.daemon()
        agent = daemon.join("a", daemon.node_token()["token"], "--name", "a")
        self.soon(lambda: daemon.is_up("a"), agent[1])
        agent[0].terminate()
        agent[0].wait()
        node = NodeLink(daemon, self.folder / "a")
        self.addCleanup(node.close)
        node.say_hello()
        self.assertEqual(node.said()["type"], "welcome")
        ask = node.renewal()
        node.send(ask, ask, ask)  # a daemon whose disk is slow has not answered the first yet
        self.assertEqual(node.said()["type"], "certificate_issued")
        # One address may ask so often: the agents behind a translator of addresses together.
        node.send(*[ask] * 300)
        node.say_hello()  # which closes the link, and nothing before it
        message = node.said()
        while message["type"] == "certificate_issued":
            message = node.said()
        self.assertEqual(message, {"type": "refuse", "why": "a link says hello once"})

    def test_a_use_is_spent_before_the_certificate_leaves_and_a_lost_answer_costs_no_second_one(self):
        daemon = self.daemon()
        token = daemon.node_token()["token"]
        agent = daemon.join("a", token, "--name", "a")
        self.soon(lambda: "joined the daemon" in agent[1](), agent[1])
        daemon.restart(signal.SIGKILL)
        self.assertEqual([t["uses"] for t in daemon.asked("node", "token", "ls")], [1])
        agent[0].terminate()
        agent[0].wait()
        # As if the answer had not come: the key is there, the certificate is not.
        kept = self.folder / "a/node-identity.json"
        asking = {"token": token.split("_")[1], "node": "a", "key": json.loads(kept.read_text())["key"]}
        kept.rename(self.folder / "a/node-joining.json")
        (self.folder / "a/node-joining.json").write_text(json.dumps(asking))
        agent = daemon.join("a", token, "--name", "a")
        self.soon(lambda: daemon.is_up("a"), agent[1])
        self.assertEqual([t["uses"] for t in daemon.asked("node", "token", "ls")], [1])
        self.refused(daemon, daemon.join("b", token, "--name", "b"), "is used up")

    def test_what_is_in_the_way_is_said_with_what_to_do(self):
        daemon = self.daemon()
        token = daemon.node_token()["token"]
        daemon_address = daemon.address

        def said(*words, code=1):
            done = subprocess.run([BIN / "agentd", *words], capture_output=True, text=True, timeout=PATIENCE,
                                  env={**os.environ, "HOME": str(self.folder)})
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        (self.folder / "file").write_text("")
        self.assertIn("create the folder", said("join", "--daemon", daemon_address, "--token", token, "--state-dir",
                                                str(self.folder / "file/agent")))
        self.assertIn("has joined no daemon; ask an admin for a token", said("join", "--daemon", daemon_address))
        self.assertTrue((self.folder / ".local/share/tidepool-agent").is_dir())
        self.assertIn("give --daemon HOST:PORT", said("join", "--token", token))
        unreachable = said("join", "--daemon", "127.0.0.1:1", "--token", token, "--name", "n")
        self.assertIn("cannot reach the daemon", unreachable)
        self.assertIn("the token is still good", unreachable)
        http = daemon.ready["url"].split("//")[1]
        wrong = said("join", "--daemon", http, "--token", token, "--name", "n")
        self.assertIn("this is the daemon's HTTP port; give the port for agents (agents.listen", wrong)
        nothing = said("--state-dir", str(self.folder / "nothing"), code=2)
        self.assertIn("either --daemon-socket", nothing)
        self.assertIn(f"no node has joined in {self.folder / 'nothing'}", nothing)
        self.assertIn("set by operators", said("join", "--price", "3", code=2))
        self.assertIn("is given with --name", said("join", "--node", "n", code=2))
        self.assertIn("give --daemon HOST:PORT", said("join", "--daemon-socket", "agent.sock", code=2))
        self.assertIn("not in {always,gpus,never}", said("join", "--probe", "maybe", code=2))
        agent = daemon.join("a", token, "--name", "a")
        self.soon(lambda: daemon.is_up("a"), agent[1])
        agent[0].terminate()
        agent[0].wait()
        a = str(self.folder / "a")
        self.assertIn("is the folder of node a", said("join", "--name", "b", "--state-dir", a))
        self.assertIn("set by operators", said("--state-dir", a, "--price", "3", code=2))
        self.assertIn("led to another address by: agentd join", said("--state-dir", a, "--daemon", "h:1", code=2))
        (self.folder / "a/node-identity.json").chmod(0o644)
        self.assertIn("chmod 600", said("--state-dir", a))
        self.assertIn("is not NAME=VALUE", daemon.ctl("node", "token", "create", "--labels", "rack").stderr)
        self.assertIn("no node x", daemon.ctl("node", "revoke", "x").stderr)


if __name__ == "__main__":
    unittest.main()
