"""A site replaces the authority of its daemon's certificate, and nodes that have joined follow: real programs over real
sockets."""
import hashlib
import json
import pathlib
import ssl
import subprocess
import tempfile
import unittest

import join_test
from tls_test import BIN, PROGRAMS, eventually

PATIENCE = 60
READ_EVERY = 60  # seconds between two looks of the daemon at its files
SECTIONS = """[req]
distinguished_name = none
[none]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, text=True, timeout=PATIENCE)


class Authority:
    """Of a site, all of them with one name. Its certificate is in PEM and known by FINGERPRINT."""

    def __init__(self, folder, name):
        self.settings = folder / "openssl.cnf"
        self.settings.write_text(SECTIONS)
        self.file, self.key = folder / (name + ".pem"), folder / (name + ".key")
        openssl("req", "-x509", *self.new_key(self.key), "-extensions", "authority", "-subj", "/CN=Site", "-days", "30",
                "-out", self.file)
        self.pem = self.file.read_text()
        self.fingerprint = "sha256:" + hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.pem)).hexdigest()

    def new_key(self, file):
        return ["-config", self.settings, "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                file]

    def issue(self, certificate, key):
        request = certificate.with_suffix(".csr")
        openssl("req", "-new", *self.new_key(key), "-subj", "/CN=daemon", "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-extfile",
                self.settings, "-extensions", "server", "-days", "20", "-out", certificate)
        key.chmod(0o600)


class Daemon(join_test.Daemon):
    """Shows server.pem, with ca.pem as what is known of authorities; at one port for agents."""

    def start(self):
        listen = self.address if hasattr(self, "ready") else "127.0.0.1:0"
        files = {"certificate": "server.pem", "key": "server.key", "ca": "ca.pem"}
        self.config.write_text(json.dumps({
            "agents": {"listen": listen}, "tls": {name: str(self.folder / file) for name, file in files.items()}}))
        super().start()


@unittest.skipUnless(all((BIN / name).exists() for name in PROGRAMS), "build the whole project")
class Rotation(unittest.TestCase):
    def soon(self, holds, told, within=PATIENCE):
        self.assertTrue(eventually(holds, within), told())

    def known(self, node):
        kept = json.loads((self.folder / node / "node-identity.json").read_text())
        return [kept["ca_fingerprint"], *kept.get("other_ca_fingerprints", [])]

    def test_nodes_follow_from_one_authority_to_the_next_and_join_no_second_time(self):
        folder = tempfile.TemporaryDirectory(prefix="tidepool-authority-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        old, new = Authority(self.folder, "old"), Authority(self.folder, "new")
        ca, server = self.folder / "ca.pem", [self.folder / "server.pem", self.folder / "server.key"]
        ca.write_text(old.pem)
        old.issue(*server)
        daemon = Daemon(self.folder)
        self.addCleanup(daemon.close)
        agent, log = daemon.join("a", daemon.node_token()["token"], "--name", "a")
        self.soon(lambda: daemon.is_up("a"), log)
        self.assertEqual(self.known("a"), [old.fingerprint])

        # Told over the link that is open.
        ca.write_text(old.pem + new.pem)
        self.soon(lambda: self.known("a") == [old.fingerprint, new.fingerprint], daemon.logged, 2 * READ_EVERY + 30)
        self.assertEqual(log().count("the daemon knows this node"), 1)
        self.assertIn("event=authorities_told nodes=1", daemon.logged())

        # The daemon's certificate comes from the new one, and machines that join from now on know it.
        daemon.stop()
        new.issue(*server)
        daemon.start()
        self.soon(lambda: log().count("the daemon knows this node") == 2, log)
        token = daemon.node_token()["token"]
        self.assertEqual("sha256:" + token.split("_")[3], new.fingerprint)
        _, log_of_b = daemon.join("b", token, "--name", "b")
        self.soon(lambda: daemon.is_up("b"), log_of_b)

        # The old one is known no more after the first link without it, also not by an agent that starts anew.
        daemon.stop()
        ca.write_text(new.pem)
        daemon.start()
        for node in ("a", "b"):
            self.soon(lambda: daemon.is_up(node) and self.known(node) == [new.fingerprint], daemon.logged)
        self.assertIsNone(agent.poll())
        agent.terminate()
        agent.wait()
        agent, log = daemon.run_agent("a")
        self.soon(lambda: log().count("the daemon knows this node") == 4, log)
        self.assertEqual(log().count("joined the daemon at"), 1)
        self.assertNotIn("node.lost", daemon.ctl("events").stdout)


if __name__ == "__main__":
    unittest.main()
