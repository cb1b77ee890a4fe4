"""Tenants by the command line, on a real daemon: set from a file, kept over a kill, exported, and what is refused."""
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import Cluster, eventually  # noqa: E402

FILE = """\
half_life: 12h
rebalance_every: 1m
tenants:
  - name: lab
    guarantee: 2
    weight: 2
    defaults: {elastic: {cooldown: 90s}, limits: {max_restarts: 7}}
    tenants:
      - {name: vision, guarantee: 1, borrow: 2, lend: 1, priority_max: 10, job_slots_max: 2, job_price_max: 12.50,
         preempt_after: 10m}
      - {name: "7"}
  - name: guests
    weight: 0
preempt_after: 5m
churn: {per_job: 3, window: 30m}
"""


class Tenants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, text=FILE):
        path = self.folder / "tenants.yaml"
        path.write_text(text)
        return path

    def cluster(self, policy):
        cluster = Cluster(str(BIN), slots=2, arguments=("--policy", policy))
        self.addCleanup(cluster.close)
        return cluster

    def schedctl(self, cluster, *words, stdin=""):
        return cluster.schedctl(*words, stdin=stdin, columns=100)

    def on_terminal(self, cluster, answer, *words):
        """The program at a terminal where someone answers."""
        environment = {**os.environ, "TIDEPOOL_URL": cluster.url, "TIDEPOOL_TOKEN": cluster.token, "NO_COLOR": "1"}
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen([BIN / "schedctl", *map(str, words)], stdin=its, stdout=its,
                                   stderr=subprocess.DEVNULL, env=environment)
        os.close(its)
        shown = ""
        while "[y/N]" not in shown:
            shown += os.read(ours, 4096).decode()
        os.write(ours, answer.encode() + b"\n")
        return process.wait(60), shown

    def test_a_tree_is_shown_before_it_is_applied_and_outlives_a_killed_daemon(self):
        cluster = self.cluster("tidal")
        self.assertIn("no tenants are set", self.schedctl(cluster, "tenants")[1])
        code, out, err = self.schedctl(cluster, "tenants", "apply", self.file())
        self.assertEqual(code, 1)
        self.assertIn("+ vision: borrow 2, guarantee 1, job_price_max 12.50, job_slots_max 2, lend 1, parent lab,", out)
        self.assertIn("apply it: schedctl tenants apply", err)
        self.assertEqual(cluster.call("GET", "/v1/tenants")["tenants"], [])
        code, out, err = self.schedctl(cluster, "tenants", "apply", self.file(), "--yes")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.endswith("applied\n"), out)
        before = cluster.call("GET", "/v1/tenants")

        cluster.restart(("--policy", "tidal"), by=signal.SIGKILL)
        after = cluster.call("GET", "/v1/tenants")
        self.assertEqual([tenant["name"] for tenant in after["tenants"]], ["lab", "vision", "7", "guests"])
        settings = [{key: value for key, value in tenant.items() if key != "now"} for tenant in after["tenants"]]
        self.assertEqual(settings, [{key: value for key, value in tenant.items() if key != "now"}
                                    for tenant in before["tenants"]])
        self.assertEqual((after["half_life"], after["rebalance_every"]), ("12h", "1m"))
        self.assertEqual((after["preempt_after"], after["churn"]),
                         ("5m", {"per_job": 3, "pool": None, "window": "30m"}))

        for form in ((), ("-o", "json")):
            exported = self.schedctl(cluster, "tenants", "export", *form)[1]
            code, out, err = self.schedctl(cluster, "tenants", "apply", "-", stdin=exported)
            self.assertEqual((code, out, err), (0, "no change\n", ""))
        rows = self.schedctl(cluster, "tenants")[1].splitlines()
        self.assertEqual([row.split()[0] for row in rows], ["TENANT", "lab", "vision", "7", "guests"])
        self.assertTrue(rows[2].startswith("  vision  ") and max(map(len, rows)) <= 100, rows)
        self.assertIn("lab / vision\n", self.schedctl(cluster, "tenants", "show", "vision")[1])
        code, _, err = self.schedctl(cluster, "tenants", "show", "visoin")
        self.assertEqual(code, 3)
        self.assertIn("there is no tenant visoin", err)

        self.assertEqual(self.schedctl(cluster, "tenants", "apply", "-", "--yes", stdin="tenants: []\n")[0], 0)
        self.assertEqual(cluster.call("GET", "/v1/tenants")["tenants"], [])

    def test_guarantees_of_types_are_set_shown_and_checked(self):
        cluster = self.cluster("tidal")
        self.assertTrue(eventually(lambda: cluster.call("GET", "/v1/nodes")["items"]), cluster.logs())
        tree = ("tenants:\n  - name: lab\n    guarantee: 2\n    guarantee_by_type: {a100: 2}\n    tenants:\n"
                "      - {name: vision, guarantee: 1, guarantee_by_type: {a100: 1}}\n")
        code, out, err = self.schedctl(cluster, "tenants", "apply", self.file(tree), "--yes")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("guarantee_by_type", out)
        page = self.schedctl(cluster, "tenants", "show", "vision")[1]
        self.assertRegex(page, r"(?m)^  guarantee_by_type +a100 1$")
        self.assertRegex(page, r"(?m)^  entitled_by_type +none$")
        code, out, err = self.schedctl(cluster, "tenants", "apply", "-", stdin=self.schedctl(
            cluster, "tenants", "export")[1])
        self.assertEqual((code, " ".join(out.split()), err),
                         (0, "no change warning: tenants lab, vision are guaranteed slots of type a100, but no node "
                          "or pool has slots of type a100; known: cpu", ""))
        for new, words in (("{a100: 3}", "gives 3 slots, of a guarantee of 2"),
                           ("{v100: 2}", "has 0 of type a100, but the tenants below are guaranteed 1 slots together"),
                           ("[a100]", "such as {a100: 4}")):
            code, _, err = self.schedctl(cluster, "tenants", "diff", self.file(tree.replace("{a100: 2}", new)))
            self.assertEqual(code, 3, err)
            self.assertIn("tenants.yaml:4: ", err)
            self.assertIn(words, err)

    def test_on_a_terminal_the_answer_decides(self):
        cluster = self.cluster("tidal")
        code, shown = self.on_terminal(cluster, "n", "tenants", "apply", self.file())
        self.assertEqual(code, 1)
        self.assertIn("+ guests", shown)
        self.assertEqual(cluster.call("GET", "/v1/tenants")["tenants"], [])
        self.assertEqual(self.on_terminal(cluster, "y", "tenants", "apply", self.file())[0], 0)
        self.assertEqual(len(cluster.call("GET", "/v1/tenants")["tenants"]), 4)

    def test_on_a_terminal_a_document_is_printed_without_a_question(self):
        cluster = self.cluster("tidal")
        environment = {**os.environ, "TIDEPOOL_URL": cluster.url, "TIDEPOOL_TOKEN": cluster.token}
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen([BIN / "schedctl", "tenants", "apply", self.file("tenants: [{name: lab}]\n"), "-o",
                                    "json"], stdin=its, stdout=its, stderr=subprocess.PIPE, env=environment)
        os.close(its)
        self.addCleanup(process.kill)
        self.assertIn(b"nothing was changed", process.communicate(timeout=60)[1])
        self.assertEqual(process.returncode, 1)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # Linux: the other end is closed
            pass
        self.assertEqual(len(json.loads(shown)["changes"]), 1)
        self.assertEqual(cluster.call("GET", "/v1/tenants")["tenants"], [])

    def test_a_wrong_file_is_refused_with_its_lines(self):
        cluster = self.cluster("tidal")
        for old, new, line, words in [
                ("guarantee: 2\n", "guarantee: 0\n", 5, "below are guaranteed 1 slots together; raise it or lower"),
                ("borrow: 2", "borow: 2", 9, 'did you mean "borrow"'),
                ('"7"', "vision", 11, 'is "vision", which /tenants/0/tenants/0 has too'),
                ("cooldown: 90s", "coldown: 90s", 7, "did you mean elastic.cooldown?"),
                ("half_life: 12h", "half_life: 12", 1, "must be a duration with a unit")]:
            for command in ("diff", "apply"):
                code, _, err = self.schedctl(cluster, "tenants", command, self.file(FILE.replace(old, new)))
                self.assertEqual(code, 3, err)
                self.assertIn(f"tenants.yaml:{line}: ", err)
                self.assertIn(words, err)
        self.assertEqual(self.schedctl(cluster, "tenants", "diff", self.folder / "none.yaml")[0], 2)
        self.assertEqual(cluster.call("GET", "/v1/tenants")["tenants"], [])

    def test_jobs_keep_to_the_tree_and_are_counted_in_it(self):
        cluster = self.cluster("tidal")
        self.assertEqual(self.schedctl(cluster, "tenants", "apply", self.file(), "--yes")[0], 0)
        job = {"name": "a", "tenant": "guests", "run": {"command": ["/bin/sleep", "600"], "resize": "restart"},
               "resources": {"gpus_per_worker": 1}, "elastic": {"min": 1, "max": 1}}
        lost = self.folder / "job.json"
        lost.write_text(json.dumps({**job, "tenant": "lab"}))
        for more in ((), ("--dry-run",)):
            code, _, err = self.schedctl(cluster, "submit", *more, lost)
            self.assertEqual(code, 3)
            self.assertIn('tenant "lab" has tenants below it', err)
        cluster.submit(job)

        def held():
            return cluster.call("GET", "/v1/tenants/guests")["now"]["held"] == 1
        self.assertTrue(eventually(held), cluster.logs())
        code, out, _ = self.schedctl(cluster, "tenants", "apply", "-", "--yes", stdin="tenants: [{name: lab}]\n")
        self.assertEqual(code, 3)
        self.assertIn('tenant "guests" has jobs that have not ended', out.replace("\n  ", " "))
        gauges = cluster_metrics(cluster)
        self.assertEqual(gauges['sched_tenant_held_slots{tenant="guests"}'], 1)
        self.assertEqual(gauges['sched_tenant_guaranteed_slots{tenant="vision"}'], 1)
        self.assertEqual(gauges['sched_tenant_entitled_slots{tenant="guests"}'], 1)
        self.assertNotIn('sched_tenant_held_slots{tenant="lab"}', gauges)
        self.assertEqual(self.schedctl(cluster, "usage", "--csv")[1].splitlines()[0],
                         "tenant,parent,slot_hours,cost,currency")

    def test_what_was_borrowed_is_given_back_with_its_state_kept_and_goes_on_later(self):
        cluster = self.cluster("tidal")
        self.assertEqual(self.schedctl(cluster, "tenants", "apply", self.file(), "--yes")[0], 0)
        job = {"name": "a", "tenant": "guests", "elastic": {"min": 1, "max": 1, "cooldown": "1s"},
               "run": {"trainer": "charlm", "args": {"steps": 10_000_000, "data": str(SOURCE / "README.md")}}}
        borrowers = [cluster.submit(job), cluster.submit({**job, "name": "b"})]

        def steps(one):
            return cluster.call("GET", f"/v1/jobs/{one}")["progress"]["step"]
        self.assertTrue(eventually(lambda: all(steps(one) > 100 for one in borrowers)), cluster.logs())
        claims = cluster.submit({**job, "name": "c", "tenant": "vision",
                                 "scaling": {"price_cap": "12.50"}})
        self.assertTrue(eventually(lambda: steps(claims) > 100), cluster.logs())
        now = cluster.call("GET", "/v1/tenants/guests")["now"]
        self.assertEqual((now["entitled"], now["held"], now["jobs_waiting"], now["satisfied"]), (1, 1, 1, False))
        waits = [one for one in borrowers if cluster.call("GET", f"/v1/jobs/{one}")["state"] == "pending"]
        self.assertEqual(len(waits), 1)
        why = self.schedctl(cluster, "why", waits[0])[1]
        self.assertIn("tenant guests may have 1 slot now; its jobs hold 1 slot", why)
        kept = steps(waits[0])
        self.assertGreater(kept, 100)

        self.assertEqual(self.schedctl(cluster, "cancel", claims)[0], 0)
        self.assertTrue(eventually(lambda: steps(waits[0]) > kept), cluster.logs())
        restored = [event for event in cluster.call("GET", f"/v1/events?job={waits[0]}&limit=1000")["items"]
                    if event["type"] == "job.restored"]
        self.assertEqual([event["data"]["steps_lost"] for event in restored], [0])

    def test_a_job_takes_the_defaults_of_its_tenant_and_get_says_whose_they_were(self):
        cluster = self.cluster("tidal")
        self.assertEqual(self.schedctl(cluster, "tenants", "apply", self.file(), "--yes")[0], 0)
        self.assertIn("  defaults          elastic.cooldown 90s, limits.max_restarts 7\n",
                      self.schedctl(cluster, "tenants", "show", "lab")[1])
        job = cluster.submit({"name": "a", "tenant": "7", "limits": {"max_restarts": 1},
                              "run": {"command": ["/bin/sleep", "600"], "resize": "restart"}})
        for by in (None, signal.SIGKILL):
            if by is not None:
                cluster.restart(("--policy", "tidal"), by=by)
            self.assertIn("elastic.cooldown 90s (lab)", self.schedctl(cluster, "get", job)[1])
            shown = cluster.call("GET", f"/v1/jobs/{job}")
            self.assertEqual(shown["defaults_from"], {"elastic.cooldown": "lab"})
            self.assertEqual(shown["spec"]["elastic"]["cooldown"], "90s")
            self.assertEqual(shown["spec"]["limits"]["max_restarts"], 1)
        wrong = FILE.replace("priority_max: 10", "priority_max: 10, defaults: {priority: 11}")
        code, out, _ = self.schedctl(cluster, "tenants", "diff", self.file(wrong))
        self.assertEqual(code, 1)
        self.assertIn('the default priority 11 of tenant "vision" is above priority_max 10 of tenant "vision"',
                      out.replace("\n  ", " "))

    def test_an_admin_of_a_tenant_sets_what_lies_below_it_and_nothing_else(self):
        cluster = self.cluster("tidal")
        self.assertEqual(self.schedctl(cluster, "tenants", "apply", self.file(), "--yes")[0], 0)
        made = cluster.call("POST", "/v1/tokens", {"name": "x", "role": "admin", "tenant": "lab"})
        cluster.token = made["token"]  # of schedctl; cluster.call stays the operator's
        exported = self.schedctl(cluster, "tenants", "export", "--below", "lab")[1]
        self.assertTrue(exported.startswith("tenants:\n"), exported)
        words = ("tenants", "apply", "-", "--below", "lab", "--yes")
        self.assertEqual(self.schedctl(cluster, *words, stdin=exported), (0, "no change\n", ""))
        mine = self.folder / "lab.yaml"
        mine.write_text(exported.replace("priority_max: 10", "priority_max: 7"))
        code, out, err = self.schedctl(cluster, "tenants", "diff", mine, "--below", "lab")
        self.assertEqual((code, out, err), (0, "~ vision: priority_max 10 -> 7\n", ""))
        code, _, err = self.schedctl(cluster, "tenants", "apply", mine, "--below", "lab")
        self.assertIn("lab.yaml --below lab --yes", err)
        self.assertEqual(self.schedctl(cluster, "tenants", "apply", mine, "--below", "lab", "--yes")[0], 0)
        self.assertEqual(cluster.call("GET", "/v1/tenants/vision")["priority_max"], 7)
        more = exported.replace("guarantee: 1", "guarantee: 3")
        for text, words in ((more, 'would keep 2 slots of their guarantees from others'),
                            (more.replace("lend: 1", "lend: 3"), "below it are guaranteed 3 slots, it has 2")):
            mine.write_text(text)
            code, out, _ = self.schedctl(cluster, "tenants", "diff", mine, "--below", "lab")
            self.assertEqual(code, 1)
            self.assertIn(words, out.replace("\n  ", " "))
        for below in (("--below", "guests"), ()):
            self.assertEqual(self.schedctl(cluster, "tenants", "diff", mine, *below)[0], 3)
        self.assertEqual([tenant["name"] for tenant in cluster.call("GET", "/v1/tenants")["tenants"]],
                         ["lab", "vision", "7", "guests"])

    def test_a_submit_beyond_jobs_max_is_refused_until_a_job_has_ended(self):
        cluster = self.cluster("tidal")
        tree = self.file("tenants: [{name: guests, jobs_max: 1}]\n")
        code, out, _ = self.schedctl(cluster, "tenants", "apply", tree, "--yes")
        self.assertEqual(code, 0)
        self.assertIn("+ guests: jobs_max 1\n", out)
        job = self.folder / "job.yaml"
        job.write_text("{name: b, tenant: guests, run: {command: [/bin/sleep, '600'], resize: restart}}\n")
        self.assertEqual(self.schedctl(cluster, "submit", job)[0], 0)
        for by in (None, signal.SIGKILL):
            if by is not None:
                cluster.restart(("--policy", "tidal"), by=by)
            for words in (("submit",), ("submit", "--dry-run"), ("plan",)):
                code, _, err = self.schedctl(cluster, *words, job)
                self.assertEqual(code, 3, words)
                self.assertIn('jobs_max 1 of tenant "guests" is reached: it has 1 job waiting, running or suspended',
                              " ".join(err.split()))
            shown = self.schedctl(cluster, "tenants", "show", "guests")[1]
            self.assertIn("  jobs_max          1\n", shown)
            self.assertIn("  jobs              1\n", shown)
        first = cluster.call("GET", "/v1/jobs")["items"][0]["id"]
        self.assertEqual(self.schedctl(cluster, "cancel", first)[0], 0)
        self.assertTrue(eventually(lambda: self.schedctl(cluster, "submit", job)[0] == 0), cluster.logs())

    def test_a_policy_that_does_not_ask_the_tree_is_named(self):
        cluster = self.cluster("fifo")
        out = self.schedctl(cluster, "tenants", "apply", self.file(), "--yes")[1].replace("\n  ", " ")
        self.assertIn("warning: the policy fifo sizes each job by itself", out)
        self.assertIn("warning: the policy fifo", self.schedctl(cluster, "tenants")[1])
        cluster.restart(("--policy", "fifo"))
        self.assertIn("event=tenants_not_shared", (cluster.folder / "schedulerd.log").read_text())


def cluster_metrics(cluster):
    """Each series of /metrics with its value."""
    request = urllib.request.Request(cluster.url + "/metrics", headers={"Authorization": "Bearer " + cluster.token})
    with urllib.request.urlopen(request, timeout=30) as reply:
        lines = [line for line in reply.read().decode().splitlines() if not line.startswith("#")]
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}


if __name__ == "__main__":
    unittest.main()
