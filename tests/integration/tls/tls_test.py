"""The daemon behind TLS, as clients and agents of other machines meet it: real programs over real sockets, and once
two network namespaces in the place of two machines."""
import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import eventually  # noqa: E402

PROGRAMS = ("schedulerd", "agentd", "schedctl", "tidepool-trainer")


class Daemon:
    """schedulerd --tls with a port for agents. Everything started here ends with close()."""

    def __init__(self, folder, host="127.0.0.1", names=(), inside=(), agents=()):
        self.folder, self.inside = folder, list(inside)
        self.config = folder / "config.yaml"
        self.config.write_text(json.dumps({"agents": {"listen": host + ":0", **dict(agents)},
                                           "tls": {"names": list(names)}}))
        self.host, self.children = host, []
        self.start()

    def start(self):
        self.log = open(self.folder / "schedulerd.log", "a")
        self.process = subprocess.Popen(
            [*self.inside, BIN / "schedulerd", "--config", self.config, "--listen", self.host + ":0", "--state-dir",
             self.folder / "state"], stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise RuntimeError(self.logged())
        self.ready = json.loads(line[len("ready "):])
        self.port = int(self.ready["url"].rsplit(":", 1)[1])
        self.token = (self.folder / "state/admin.token").read_text().strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.process.stdout.close()
        self.log.close()

    def close(self):
        for child in self.children:
            child.terminate()
            child.wait()
        if self.process.poll() is None:
            self.stop()

    def logged(self):
        return (self.folder / "schedulerd.log").read_text()

    def agent(self, name, *trust, inside=(), token=None):
        """Its log is in NAME.log."""
        log = open(self.folder / (name + ".log"), "w")
        with log:
            self.children.append(subprocess.Popen(
                [*inside, BIN / "agentd", "--daemon", f"{self.host}:{self.ready['agents_port']}", "--state-dir",
                 self.folder / name, "--node", name, "--slots", "2", "--isolation", "none",
                 "--stop-workers", "--token-file",
                 token or self.folder / "state/agent.token", *trust], stdout=log, stderr=log))
        return lambda: (self.folder / (name + ".log")).read_text()

    def schedctl(self, *words, url=None, ca=None, inside=(), **more):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TIDEPOOL_")}
        environment.update(HOME=str(self.folder), TIDEPOOL_TOKEN=self.token, **more)
        given = ["--url", url or self.ready["url"], *(["--ca", ca] if ca else [])]
        return subprocess.run([*inside, BIN / "schedctl", *words, *given], env=environment, capture_output=True,
                              text=True, timeout=120)


def job_on(folder, name="far"):
    text = folder / "text.txt"
    text.write_text("the tide comes in and the tide goes out\n" * 400)
    return {"name": name, "run": {"trainer": "charlm", "args": {"data": str(text), "steps": 300, "hidden": 16}},
            "resources": {"gpus_per_worker": 1}, "elastic": {"min": 2, "max": 2},
            "batch": {"global": 64, "per_worker_max": 64}}


@unittest.skipUnless(all((BIN / name).exists() for name in PROGRAMS), "build the whole project")
class Tls(unittest.TestCase):
    def daemon(self, **how):
        folder = tempfile.TemporaryDirectory(prefix="tidepool-tls-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        daemon = Daemon(self.folder, **how)
        self.addCleanup(daemon.close)
        return daemon

    def logs_soon(self, daemon, text):
        self.assertTrue(eventually(lambda: text in daemon.logged(), 20), daemon.logged())

    def get(self, daemon, path, context, host=None, name="127.0.0.1"):
        """The status and body of one request; `name` is whose certificate is asked for, `host` what Host says."""
        with socket.create_connection((daemon.host, daemon.port), 10) as plain:
            with context.wrap_socket(plain, server_hostname=name) as secured:
                secured.sendall((f"GET {path} HTTP/1.1\r\nHost: {host or '127.0.0.1:%d' % daemon.port}\r\n"
                                 f"Authorization: Bearer {daemon.token}\r\nConnection: close\r\n\r\n").encode())
                reply = http.client.HTTPResponse(secured)
                reply.begin()
                return reply.status, reply.read(), secured.version()

    def test_a_job_trains_through_an_agent_that_knows_the_fingerprint_and_schedctl_follows_it(self):
        daemon = self.daemon()
        self.assertTrue(daemon.ready["url"].startswith("https://127.0.0.1:"))
        ca = daemon.ready["ca"]
        self.assertEqual(ca, str(self.folder / "state/tls/ca.pem"))
        daemon.agent("one", "--ca", ca)
        self.assertTrue(eventually(lambda: "one" in daemon.schedctl("nodes", ca=ca).stdout, 30), daemon.logged())
        wrong = daemon.schedctl("nodes", url=f"https://127.0.0.1:{daemon.ready['agents_port']}", ca=ca)
        self.assertEqual(wrong.returncode, 5)
        self.assertIn("does not speak HTTP, as the daemon's port for agents", " ".join(wrong.stderr.split()))
        log = daemon.agent("two", "--ca-fingerprint", daemon.ready["ca_fingerprint"])
        self.assertTrue(eventually(lambda: "two" in daemon.schedctl("nodes", ca=ca).stdout, 30), log())
        job = self.folder / "job.yaml"
        job.write_text(json.dumps(job_on(self.folder)))
        done = daemon.schedctl("submit", "--wait", str(job), TIDEPOOL_CA=ca)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # The stream of events has come to its end above; what workers wrote comes through the agent's link.
        self.assertIn("succeeded", daemon.schedctl("ls", ca=ca).stdout)
        self.assertIn("job.finished", daemon.schedctl("events", ca=ca).stdout)
        logs = daemon.schedctl("logs", "job-1", ca=ca)
        self.assertEqual(logs.returncode, 0, logs.stderr)

    @staticmethod
    @contextlib.contextmanager
    def secured(daemon, seconds):
        """A connection to the daemon's API, which no call on it holds up for longer."""
        context = ssl.create_default_context(cafile=daemon.ready["ca"])
        with socket.create_connection(("127.0.0.1", daemon.port), seconds) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as secured:
                yield secured

    def test_a_stream_over_tls_brings_events_and_ends_with_the_daemon(self):
        daemon = self.daemon()
        with self.secured(daemon, 30) as secured:
            secured.sendall((f"GET /v1/events/stream HTTP/1.1\r\nHost: localhost:{daemon.port}\r\n"
                             f"Authorization: Bearer {daemon.token}\r\n\r\n").encode())
            seen = b""

            def read_until(words):
                nonlocal seen
                while words not in seen:
                    piece = secured.recv(65536)
                    self.assertTrue(piece, seen)
                    seen += piece

            read_until(b": stream of events")  # it brings what happens from here on
            daemon.agent("joins", "--ca", daemon.ready["ca"])
            read_until(b"node.joined")
            daemon.stop()
            # Read to its end without an error: the stream was closed by the daemon, not cut off by someone else.
            while piece := secured.recv(65536):
                seen += piece
            self.assertTrue(seen.endswith(b"0\r\n\r\n"), seen[-60:])

    def test_the_address_of_a_daemon_that_listens_everywhere_is_one_of_its_certificate(self):
        daemon = self.daemon(host="0.0.0.0", names=["localhost"])
        self.assertEqual(daemon.ready["url"], f"https://localhost:{daemon.port}")
        done = daemon.schedctl("nodes", ca=daemon.ready["ca"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_tls_1_3_is_spoken_and_1_2_is_refused_with_a_line_in_the_log(self):
        daemon = self.daemon()
        context = ssl.create_default_context(cafile=daemon.ready["ca"])
        status, _, version = self.get(daemon, "/v1/nodes", context)
        self.assertEqual((status, version), (200, "TLSv1.3"))
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with self.assertRaises(ssl.SSLError):
            self.get(daemon, "/v1/nodes", context)
        self.logs_soon(daemon, "event=http_tls_refused peer=127.0.0.1 why=\"the other side has no TLS 1.3")

    def test_a_body_that_is_refused_while_it_is_sent_gets_its_answer(self):
        daemon = self.daemon()
        with self.secured(daemon, 10) as secured:
            secured.sendall((f"POST /v1/jobs HTTP/1.1\r\nHost: localhost:{daemon.port}\r\nContent-Length: 9000000\r\n"
                             f"Authorization: Bearer {daemon.token}\r\n\r\n").encode())
            secured.sendall(b" " * 200000)
            reply = http.client.HTTPResponse(secured)
            reply.begin()
            self.assertEqual(reply.status, 413)

    def test_a_plain_client_and_a_plain_agent_are_refused_with_lines_that_say_why(self):
        daemon = self.daemon()
        with socket.create_connection(("127.0.0.1", daemon.port), 10) as plain:
            plain.sendall(f"GET /v1/nodes HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n\r\n".encode())
            with contextlib.suppress(ConnectionResetError):
                self.assertNotIn(b"HTTP/", plain.recv(4096))
        self.logs_soon(daemon, "it speaks plain HTTP to a port with TLS")
        told = daemon.schedctl("nodes", url=daemon.ready["url"].replace("https:", "http:"))
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("begins with https://", told.stderr)
        daemon.agent("plain")
        self.logs_soon(daemon, "no TLS with this agent: the other side does not speak TLS")
        self.assertNotIn(daemon.token, daemon.logged())

    def test_another_authority_fingerprint_or_name_is_not_trusted_and_learns_no_token(self):
        daemon = self.daemon(names=["pool.example.org"])
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        stranger = Daemon(elsewhere)
        self.addCleanup(stranger.close)
        other = stranger.ready["ca"]
        told = daemon.schedctl("nodes", ca=other)
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("is not trusted", told.stderr)
        self.assertIn("authority", told.stderr)
        self.assertIn("is not trusted", daemon.schedctl("nodes").stderr)  # the system's authorities
        log = daemon.agent("by-file", "--ca", other)
        self.assertTrue(eventually(lambda: "certificate is not trusted" in log(), 30), log())
        log = daemon.agent("by-fingerprint", "--ca-fingerprint", "sha256:" + "0" * 64)
        self.assertTrue(eventually(lambda: "certificate is not trusted" in log(), 30), log())
        self.assertIn("if the daemon's authority was replaced, give the new one", log())
        self.logs_soon(daemon, "does not trust this daemon's certificate")
        context = ssl.create_default_context(cafile=daemon.ready["ca"])
        self.assertEqual(self.get(daemon, "/v1/nodes", context, name="pool.example.org",
                                  host=f"pool.example.org:{daemon.port}")[0], 200)
        self.assertEqual(self.get(daemon, "/v1/nodes", context, host=f"evil.example.org:{daemon.port}")[0], 421)
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.get(daemon, "/v1/nodes", context, name="evil.example.org")
        self.assertEqual(json.loads(daemon.schedctl("nodes", "-o", "json", ca=daemon.ready["ca"]).stdout), [])

    def test_an_agent_with_a_wrong_token_is_refused_over_tls_too(self):
        daemon = self.daemon()
        wrong = self.folder / "wrong.token"
        wrong.write_text("0" * 48)
        wrong.chmod(0o600)
        log = daemon.agent("stranger", "--ca", daemon.ready["ca"], token=wrong)
        self.assertTrue(eventually(lambda: "wrong agent token" in log(), 30), log())

    def test_a_restarted_daemon_keeps_its_authority_and_no_file_has_the_servers_key(self):
        daemon = self.daemon()
        before = daemon.ready["ca_fingerprint"]
        log = daemon.agent("stays", "--ca-fingerprint", before)
        ca = daemon.ready["ca"]
        self.assertTrue(eventually(lambda: "stays" in daemon.schedctl("nodes", ca=ca).stdout, 30), log())
        folder = self.folder / "state/tls"
        self.assertEqual(sorted(entry.name for entry in folder.iterdir()), ["ca.key", "ca.pem"])
        self.assertEqual([oct(entry.stat().st_mode & 0o777) for entry in (folder, *folder.iterdir())],
                         ["0o700", "0o600", "0o600"])
        daemon.stop()
        port = daemon.ready["agents_port"]
        daemon.config.write_text(json.dumps({"agents": {"listen": f"127.0.0.1:{port}"}, "tls": {}}))
        daemon.start()
        self.assertEqual(daemon.ready["ca_fingerprint"], before)
        nodes = lambda: json.loads(daemon.schedctl("nodes", "-o", "json", ca=ca).stdout)  # noqa: E731
        self.assertTrue(eventually(lambda: [n["state"] for n in nodes()] == ["up"], 60), log())

    def test_an_agent_of_another_machine_needs_the_authority(self):
        folder = tempfile.TemporaryDirectory(prefix="tidepool-tls-")
        self.addCleanup(folder.cleanup)
        run = lambda *words: subprocess.run(  # noqa: E731
            [BIN / "agentd", "--state-dir", folder.name + "/a", "--token-file", "t", *words], capture_output=True,
            text=True, timeout=30)
        told = run("--daemon", "10.77.0.1:7481")
        self.assertEqual(told.returncode, 2)
        self.assertIn("10.77.0.1 is another machine", told.stderr)
        self.assertIn("64 digits", run("--daemon", "10.77.0.1:7481", "--ca-fingerprint", "sha256:ab").stderr)
        self.assertIn("either --ca", run("--daemon", "10.77.0.1:1", "--ca", "f", "--ca-fingerprint", "x").stderr)
        self.assertIn("go with --daemon", run("--daemon-socket", "/s", "--ca", "f").stderr)
        missing = run("--daemon", "127.0.0.1:1", "--ca", folder.name + "/none.pem")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("none.pem", missing.stderr)

    def test_login_keeps_address_authority_and_token_and_flags_and_environment_win(self):
        daemon = self.daemon()

        def ctl(*words, **more):
            environment = {k: v for k, v in os.environ.items() if not k.startswith(("TIDEPOOL_", "XDG_"))}
            return subprocess.run([BIN / "schedctl", *words], env={**environment, "HOME": str(self.folder), **more},
                                  capture_output=True, text=True, timeout=60)

        url, known = daemon.ready["url"], daemon.ready["ca_fingerprint"]
        kept = self.folder / ".config/tidepool/login.json"
        wrong = ctl("login", "--url", url, "--fingerprint", "sha256:" + "0" * 64, "--token", daemon.token)
        self.assertIn("is not trusted", wrong.stderr)
        self.assertEqual(wrong.returncode, 5)
        refused = ctl("login", "--url", url, "--fingerprint", known, "--token", "tp_no_token")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("in clear", ctl("login", "--url", "http://10.77.0.1:1", "--token", "t").stderr)
        self.assertFalse(kept.exists())
        done = ctl("login", "--url", url + "/", "--fingerprint", known, TIDEPOOL_TOKEN=daemon.token)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777), (0o600, 0o700))
        self.assertEqual(ctl("nodes").returncode, 0)
        self.assertEqual(ctl("nodes", "--url", url).returncode, 0)
        self.assertNotEqual(ctl("nodes", "--token", "tp_no_token").returncode, 0)
        # Token and authority are for that address only.
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        stranger = Daemon(elsewhere)
        self.addCleanup(stranger.close)
        self.assertIn("is not trusted", ctl("nodes", TIDEPOOL_URL=stranger.ready["url"]).stderr)
        self.assertNotEqual(ctl("nodes", "--url", stranger.ready["url"], "--ca", stranger.ready["ca"]).returncode, 0)
        kept.chmod(0o644)
        self.assertIn("chmod 600", ctl("nodes").stderr)
        kept.chmod(0o600)
        # The authority of the daemon was replaced since.
        for new_one in (("--fingerprint", known), ("--ca", daemon.ready["ca"])):
            kept.write_text(json.dumps({**json.loads(kept.read_text()),
                                        "ca": pathlib.Path(stranger.ready["ca"]).read_text()}))
            replaced = ctl("nodes")
            self.assertNotEqual(replaced.returncode, 0)
            self.assertIn("log in again: schedctl login --fingerprint", replaced.stderr)
            again = ctl("login", *new_one)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(ctl("nodes").returncode, 0)
        by_file = ctl("login", "--url", url, "--ca", daemon.ready["ca"], "--token", daemon.token)
        self.assertEqual(by_file.returncode, 0, by_file.stderr)
        self.assertEqual(ctl("nodes").returncode, 0)
        self.assertEqual(ctl("logout").returncode, 0)
        self.assertFalse(kept.exists())

    def namespaces(self):
        """Two namespaces with a cable between them, or a skip where they cannot be made."""
        names = [f"tidepool-{os.getpid()}-{end}" for end in ("daemon", "agent")]
        ends = [f"tp{os.getpid() % 100000}{end}" for end in ("d", "a")]

        def ip(*words):
            subprocess.run(["ip", *words], check=True, capture_output=True)

        try:
            for name in names:
                ip("netns", "add", name)
                self.addCleanup(lambda name=name: ip("netns", "del", name))
            ip("link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
            for place, (name, end) in enumerate(zip(names, ends), 1):
                ip("-n", name, "addr", "add", f"10.77.0.{place}/24", "dev", end)
                for device in ("lo", end):
                    ip("-n", name, "link", "set", device, "up")
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"no network namespaces here: {error}")
        return [("ip", "netns", "exec", name) for name in names]

    def test_between_two_hosts_a_job_trains_and_without_tls_the_bind_is_refused(self):
        here, there = self.namespaces()
        daemon = self.daemon(host="10.77.0.1", inside=here)
        self.assertEqual(daemon.ready["url"], f"https://10.77.0.1:{daemon.port}")
        log = daemon.agent("there", "--ca-fingerprint", daemon.ready["ca_fingerprint"], inside=there)
        job = self.folder / "job.yaml"
        job.write_text(json.dumps(job_on(self.folder)))
        done = daemon.schedctl("submit", "--wait", str(job), ca=daemon.ready["ca"], inside=there)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + log())
        self.assertIn("there", daemon.schedctl("nodes", ca=daemon.ready["ca"], inside=there).stdout)
        plain = subprocess.run([*here, BIN / "schedulerd", "--listen", "10.77.0.1:0", "--state-dir",
                                self.folder / "plain"], capture_output=True, text=True, timeout=30)
        self.assertEqual(plain.returncode, 2)
        self.assertIn("10.77.0.1 is not a loopback address", plain.stderr)
        self.assertIn("--tls", plain.stderr)


if __name__ == "__main__":
    unittest.main()
