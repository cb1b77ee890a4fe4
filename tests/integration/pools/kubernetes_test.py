"""The provider for Kubernetes, examples/providers/kubernetes_pods.py, with a program in the place of kubectl: call by
call, and under a real daemon whose nodes are the pods' agents."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
HERE = pathlib.Path(__file__).resolve().parent
PROVIDER = ROOT / "examples/providers/kubernetes_pods.py"
sys.path.insert(0, str(ROOT / "tests/support"))
from cluster import Cluster, eventually  # noqa: E402


def manifest(*command, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "any", "labels": {"app": "node"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "agent", "command": list(command)}], **spec}}


class PodCluster(Cluster):
    def __init__(self, manifest_file, kubectl):
        self.manifest_file, self.kubectl = manifest_file, kubectl
        super().__init__(str(BIN), slots=0)

    def _start(self, arguments):
        self.manifest_file.write_text(json.dumps(manifest(
            f"{BIN}/agentd", "--daemon-socket", f"{self.folder}/state/agent.sock", "--token-file",
            f"{self.folder}/state/agent.token", "--state-dir", f"{self.folder}/nodes/{{name}}", "--node", "{name}",
            "--slots", "{slots}", "--isolation", "none")))
        (self.folder / "nodes").mkdir(exist_ok=True)
        pool = {"name": "pod", "provider": "exec", "command": [sys.executable, "-B", str(PROVIDER)],
                "settings": {"manifest": str(self.manifest_file), "namespace": "training",
                             "kubectl": str(self.kubectl)},
                "slots_per_node": 2, "price_per_slot_hour": "1.00", "max": 2, "idle": "3s", "lead_time": "20s",
                "list_every": "1s"}
        config = self.folder / "config.yaml"
        config.write_text(json.dumps({"pools": {"list": [pool]}}))
        super()._start(["--config", str(config), *arguments])


class KubernetesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidepool-pods-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.pods = self.folder / "pods"
        self.pods.mkdir()
        self.kubectl = self.folder / "kubectl"
        self.kubectl.write_text(f"#!/bin/sh\nexport KUBECTL_PODS={self.pods}\n"
                                f"exec {sys.executable} -B {HERE / 'kubectl_stand_in.py'} \"$@\"\n")
        self.kubectl.chmod(0o755)
        self.addCleanup(self.end_pods)

    def end_pods(self):
        for place in self.pods.glob("*.json"):
            try:
                os.killpg(json.loads(place.read_text())["pid"], signal.SIGKILL)
            except ProcessLookupError:
                pass

    def settings(self, **more):
        return {"manifest": str(self.folder / "pod.json"), "namespace": "training", "kubectl": str(self.kubectl),
                **more}

    def ask(self, action, **more):
        call = {"version": 1, "action": action, "pool": "pod", "cluster": "c-5F", "slots": 2, "slot_type": "H100",
                "settings": self.settings(), **more}
        done = subprocess.run([sys.executable, "-B", PROVIDER], input=json.dumps(call), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        return json.loads(done.stdout)

    def list_without(self, request):
        """What is said by the listing that misses the request for the first time."""
        self.assertTrue(eventually(lambda: request not in [node["request"] for node in self.ask("list")["nodes"]],
                                   20, 0.2))
        return self.said

    def describe(self, pod):
        (self.folder / "pod.json").write_text(json.dumps(pod))

    def test_each_call_can_be_made_again(self):
        self.describe(manifest("sleep", "3600", activeDeadlineSeconds=600))
        created = {"id": "tidepool-c-5f-1", "lifetime_s": 600}
        for _ in range(2):
            self.assertEqual(self.ask("create", request="c-5F-1", name="pod-1"), created)
        [pod] = [json.loads(place.read_text()) for place in self.pods.glob("*.json")]
        self.assertEqual(pod["metadata"]["labels"], {"app": "node", "tidepool.io/request": "c-5F-1"})
        self.assertEqual(self.ask("list"), {"nodes": [{"request": "c-5F-1", **created}]})
        for _ in range(2):
            self.assertEqual(self.ask("delete", request="c-5F-1", id=""), {})
        self.assertEqual(self.ask("list"), {"nodes": []})

    def test_a_pod_that_has_ended_is_removed_and_not_listed(self):
        self.describe(manifest("true"))
        self.ask("create", request="c-5F-1", name="pod-1")
        self.assertTrue(eventually(lambda: self.ask("list") == {"nodes": []}, 20, 0.2))
        self.assertEqual(list(self.pods.glob("*.json")), [])
        self.assertEqual(self.said, "")

    def test_of_a_pod_that_has_failed_it_is_said_why_before_it_is_removed(self):
        self.describe(manifest("sh", "-c", "echo starting; echo the token is used up; exit 3"))
        self.ask("create", request="c-5F-1", name="pod-1")
        self.assertEqual(self.list_without("c-5F-1"), "pod tidepool-c-5f-1 has failed: agent ended with 3 (Error); "
                         'its log ends with "the token is used up"\n')
        self.assertEqual(list(self.pods.glob("*.json")), [])
        self.describe(manifest("sleep", "3600"))
        self.ask("create", request="c-5F-2", name="pod-1")
        os.killpg(json.loads((self.pods / "tidepool-c-5f-2.json").read_text())["pid"], signal.SIGKILL)
        self.assertEqual(self.list_without("c-5F-2"), "pod tidepool-c-5f-2 has failed: Evicted: The node was low on "
                         "resource: memory.; its log cannot be read: Error from server (NotFound): pods "
                         '"tidepool-c-5f-2" not found\n')

    def test_pods_of_another_daemon_are_neither_listed_nor_removed(self):
        self.describe(manifest("false"))
        self.ask("create", request="c-5F0-1", name="pod-1", cluster="c-5F0")
        self.ask("create", request="c-5F-1", name="pod-1")
        self.list_without("c-5F-1")
        self.assertTrue(eventually(lambda: (self.pods / "tidepool-c-5f0-1.exit").exists(), 20, 0.2))
        self.assertEqual(self.ask("list"), {"nodes": []})
        self.assertEqual([place.name for place in self.pods.glob("*.json")], ["tidepool-c-5f0-1.json"])
        self.assertEqual(self.ask("list", cluster="c-5F0"), {"nodes": []})
        self.assertEqual(list(self.pods.glob("*.json")), [])

    def test_what_is_wrong_is_said_by_kind(self):
        def refusal(**more):
            return self.ask("create", request="c-5F-1", name="pod-1", **more)["error"]
        self.assertIn("the manifest cannot be read", refusal()["message"])
        self.describe({**manifest("true"), "kind": "Deployment"})
        self.assertIn("describes a Deployment", refusal()["message"])
        (self.folder / "pod.json").write_text("\n---\n".join([json.dumps(manifest("true"))] * 2))
        self.assertIn("describes several objects, and must describe one Pod", refusal()["message"])
        self.describe(manifest("true", restartPolicy="Always"))
        self.assertIn("must say restartPolicy: Never", refusal()["message"])
        self.describe(manifest("true"))
        (self.pods / "quota").write_text("0")
        self.assertEqual(refusal()["code"], "quota")
        wrong = refusal(settings=self.settings(namespace="other"))
        self.assertEqual(wrong["code"], "refused")
        self.assertIn("which namespace?", wrong["message"])
        self.assertIn("cannot be run", refusal(settings=self.settings(kubectl="/nowhere"))["message"])

    def test_the_manifest_that_ships_has_no_word_left_to_fill_in(self):
        text = (ROOT / "examples/providers/kubernetes_pod.yaml").read_text()
        for word in ("name", "slots", "slot_type"):
            text = text.replace("{" + word + "}", "x")
        self.assertNotRegex(text, r'\{[a-z_]+\}')
        self.assertIn("restartPolicy: Never", text)

    def test_pods_join_train_and_are_deleted_when_idle(self):
        cluster = PodCluster(self.folder / "pod.json", self.kubectl)
        self.addCleanup(cluster.close)
        job_id = cluster.submit({
            "name": "gang", "run": {"trainer": "charlm",
                                    "args": {"data": str(ROOT / "README.md"), "steps": 200, "hidden": 16}},
            "resources": {"gpus_per_worker": 1}, "elastic": {"min": 4, "max": 4, "preferred": 4},
            "batch": {"global": 32, "per_worker_max": 32}})
        done = eventually(lambda: cluster.job(job_id)["state"] == "succeeded", 180, 0.2)
        self.assertTrue(done, cluster.logs())
        pools = cluster.call("GET", "/v1/pools")["items"]
        self.assertEqual([pool["name"] for pool in pools], ["pod"])
        self.assertTrue(eventually(lambda: not list(self.pods.glob("*.json")), 60, 0.2), cluster.logs())
        self.assertTrue(eventually(lambda: not cluster.call("GET", "/v1/pools")["items"][0]["nodes"], 60, 0.2))
        self.assertEqual(len(cluster.events("pool.node_gone")), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
