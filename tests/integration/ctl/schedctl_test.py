"""schedctl over a real socket: what it sends, prints, and how it exits.

The peer here is a small server that answers with the shapes of api/examples; the tests against the
daemon itself are in tests/integration/live and tools/quickstart.
"""

import json
import os
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.environ["TIDEPOOL_SOURCE_DIR"])

from tests.support.schedctl_case import SchedctlCase, event, example, listed, sse  # noqa: E402


class SchedctlTest(SchedctlCase):
    def job_file(self, text="name: a\nrun: {trainer: charlm, args: {data: README.md}}\nresources: {gpus_per_worker: 1}\n"):
        path = self.folder / "job.yaml"
        path.write_text(text)
        return path

    # --- submit ---

    def test_submit_sends_the_file_with_the_folder_it_was_given_in(self):
        self.daemon.routes["POST", "/v1/jobs"] = (201, example("job.json"))
        code, out, err = self.run_ctl("submit", str(self.job_file()))
        self.assertEqual((code, out, err), (0, "job-1\n", ""))
        [request] = self.daemon.sent("POST", "/v1/jobs")
        body = json.loads(request["body"])
        self.assertEqual(body["run"]["workdir"], os.path.realpath(self.folder))
        self.assertEqual(body["resources"], {"gpus_per_worker": 1})
        self.assertTrue(request["headers"]["Idempotency-Key"].startswith("schedctl-"))

    def test_a_submit_of_a_job_that_cannot_start_says_so_beside_its_id(self):
        waits = {**example("job.json"), "state": "pending", "reason": {
            "code": "NeverFits", "numbers": {"needed": 9, "cluster": 4},
            "text": "cannot start: it needs 9 slots, and the whole cluster has room for 4"}}
        self.daemon.routes["POST", "/v1/jobs"] = (201, waits)
        code, out, err = self.run_ctl("submit", str(self.job_file()))
        self.assertEqual((code, out), (0, "job-1\n"))
        self.assertEqual(err, "schedctl: job-1 waits and cannot start as things are: it needs 9 slots, and the whole "
                              "cluster has room for 4; what would help: schedctl why job-1\n")
        self.assertEqual(len(self.daemon.requests), 1)
        waits["reason"] = {"code": "WaitingForSlots", "numbers": {}, "text": "waits for 2 slots; none is free"}
        self.assertEqual(self.run_ctl("submit", str(self.job_file())), (0, "job-1\n", ""))

    def test_two_submits_use_two_keys_and_a_given_key_is_kept(self):
        self.daemon.routes["POST", "/v1/jobs"] = (201, example("job.json"))
        for _ in range(2):
            self.run_ctl("submit", str(self.job_file()))
        self.run_ctl("submit", "--idempotency-key", "mine", str(self.job_file()))
        keys = [r["headers"]["Idempotency-Key"] for r in self.daemon.sent("POST", "/v1/jobs")]
        self.assertEqual(len(set(keys)), 3)
        self.assertEqual(keys[2], "mine")

    def test_submit_reads_standard_input_and_json(self):
        self.daemon.routes["POST", "/v1/jobs"] = (201, example("job.json"))
        code, _, err = self.run_ctl("submit", "-", stdin='{"run": {"trainer": "mlp", "workdir": "/data"}}')
        self.assertEqual((code, err), (0, ""))
        [request] = self.daemon.sent("POST", "/v1/jobs")
        self.assertEqual(json.loads(request["body"])["run"]["workdir"], "/data")

    def test_submit_of_several_files_is_one_batch(self):
        self.daemon.routes["POST", "/v1/jobs:batch"] = (201, example("job_batch_stored.json"))
        first, second = self.job_file(), self.folder / "second.yaml"
        second.write_text("name: b\nrun: {trainer: mlp}\n")
        code, out, err = self.run_ctl("submit", str(first), str(second))
        self.assertEqual((code, out, err),
                         (0, "job-17\njob-18\n", "schedctl: job-18 waits for 2 slots; none is free\n"))
        [request] = self.daemon.sent("POST", "/v1/jobs:batch")
        self.assertEqual([job["name"] for job in json.loads(request["body"])["jobs"]], ["a", "b"])
        self.assertTrue(request["headers"]["Idempotency-Key"].startswith("schedctl-"))
        for option in ("--dry-run", "--wait"):
            self.assertEqual(self.run_ctl("submit", option, str(first), str(second))[0], 2)
        self.assertEqual(len(self.daemon.requests), 1)

    def test_a_refused_batch_names_the_file_and_its_line(self):
        self.daemon.routes["POST", "/v1/jobs:batch"] = (422, example("job_batch_problem.json"))
        second = self.folder / "second.yaml"
        second.write_text("run: {trainer: mlp}\nelastic:\n  max: 4\n  min: 8\n")
        code, out, err = self.run_ctl("submit", str(self.job_file()), str(second))
        self.assertEqual((code, out), (3, ""))
        self.assertIn(f"{second}:4: /elastic/min: min is 8", err)

    def test_submit_dry_run_asks_for_a_dry_run(self):
        self.daemon.routes["POST", "/v1/jobs"] = (200, {**example("job.json"), "spec": {"tenant": "default"}})
        code, out, _ = self.run_ctl("submit", "--dry-run", str(self.job_file()))
        self.assertEqual(code, 0)
        self.assertIn("nothing was stored", out)
        self.assertIn("tenant: default", out)
        self.assertEqual(self.daemon.requests[0]["query"], "dry_run=true")

    def test_submit_dry_run_says_what_would_be_decided(self):
        starts = example("submit_decision.json")
        waits = {"starts": False, "size": 0, "summary": "waits for 4 slots; none is free", "places": [], "changes": [],
                 "unblocks": ["add a node with 4 free slots"]}
        spent = {**waits, "summary": "waits: tenant lab has spent its budget of 8.00", "unblocks": []}
        lacks = {**waits, "summary": "needs 2 slots, and there is 1 in all", "unblocks": []}
        for decision, lines in [
                (starts, ["submitted now, it would start at once: 2 workers on n1, 1 worker on n2",
                          "  job-3 (charlm-demo) would shrink from 4 to 1 worker",
                          "  a job of another tenant would release its 2 workers", ""]),
                (waits, ["submitted now, it would wait for 4 slots; none is free",
                         "  what would help: add a node with 4 free slots", ""]),
                (spent, ["submitted now, it would wait: tenant lab has spent its budget of 8.00", ""]),
                (lacks, ["submitted now, it would wait: needs 2 slots, and there is 1 in all", ""])]:
            answer = {**example("job.json"), "id": None, "spec": {}, "decision": decision}
            self.daemon.routes["POST", "/v1/jobs"] = (200, answer)
            code, out, _ = self.run_ctl("submit", "--dry-run", str(self.job_file()))
            self.assertEqual(code, 0)
            self.assertEqual(out.splitlines()[1:len(lines) + 1], lines)

    def test_field_errors_name_the_line_of_the_file(self):
        self.daemon.routes["POST", "/v1/jobs"] = (422, example("problem.json"))
        path = self.job_file("name: x\nelastic:\n  min: 8\n  max: 4\nelastc: 1\nrun: {trainer: mlp}\n")
        code, out, err = self.run_ctl("submit", str(path))
        self.assertEqual((code, out), (3, ""))
        self.assertIn("job.yaml:3: /elastic/min: min is 8", err)
        self.assertIn("job.yaml:5: /elastc:", err)
        self.assertIn("hint: correct the fields", err)

    def test_a_file_that_cannot_be_used_is_refused_before_anything_is_sent(self):
        for text, words in [("a: 1\na: 2\n", "line 2: the field \"a\" appears twice"), ("a: [1\n", "not valid YAML"),
                            ("", "no content")]:
            code, _, err = self.run_ctl("submit", str(self.job_file(text)))
            self.assertEqual(code, 2)
            self.assertIn(words, err)
        code, _, err = self.run_ctl("submit", "missing.yaml")
        self.assertEqual(code, 2)
        self.assertIn("missing.yaml cannot be read", err)
        code, _, err = self.run_ctl("submit", ".")
        self.assertEqual(code, 2)
        self.assertIn("is a folder", err)
        self.assertEqual(self.daemon.requests, [])

    # --- reading ---

    def test_ls_reads_every_page_and_filters(self):
        first, second = example("job.json"), example("job.json")
        second.update(id="job-2", name="other", state="succeeded")

        def jobs(request):
            if "state=pending" in request["query"]:
                return (200, listed([first]))
            return (200, listed([second]) if "cursor=c%2F1" in request["query"] else listed([first], "c/1"))

        self.daemon.routes["GET", "/v1/jobs"] = jobs
        code, out, _ = self.run_ctl("ls", COLUMNS="80")
        self.assertEqual(code, 0)
        self.assertIn("job-1", out)
        self.assertIn("job-2", out)
        self.assertTrue(all(len(line) <= 80 for line in out.splitlines()), out)
        self.assertEqual(self.run_ctl("ls", "--active", "-q")[1], "job-1\n")
        self.assertEqual(self.daemon.requests[-1]["query"],
                         "state=pending%2Cstarting%2Crunning%2Cresizing%2Csuspending%2Csuspended&limit=100")
        self.run_ctl("ls", "--state", "succeeded", "--tenant", "a b", "--name", "x", "-q")
        self.assertEqual(self.daemon.requests[-2]["query"], "state=succeeded&tenant=a%20b&name=x&limit=100")
        asked = len(self.daemon.requests)
        self.assertEqual(self.run_ctl("ls", "--state", "succeeded", "--active", "-q")[1], "")
        self.assertEqual(len(self.daemon.requests), asked)  # no job is both
        for given, query in [(["--state", "pending,running"], "state=pending%2Crunning"),
                             (["--state", "failed,running,pending", "--active"], "state=running%2Cpending")]:
            self.assertEqual(self.run_ctl("ls", *given)[0], 0)
            self.assertIn(query, self.daemon.sent("GET", "/v1/jobs")[-1]["query"])
        self.assertEqual(self.run_ctl("ls", "--state", "pending,sleeping")[0], 2)
        self.assertEqual([j["id"] for j in json.loads(self.run_ctl("ls", "-o", "json")[1])], ["job-1", "job-2"])
        code, out, err = self.run_ctl("ls", "-q", "-o", "json")
        self.assertEqual((json.loads(out), err), (["job-1", "job-2"], ""))

    def test_ls_reads_no_more_pages_than_it_shows(self):
        def jobs(request):
            page = sum(1 for _ in self.daemon.requests)
            items = [dict(example("job.json"), id=f"job-{1000 - 2 * page - i}", state="running" if i else "failed")
                     for i in range(2)]
            return (200, listed(items, f"c{page}"))

        self.daemon.routes["GET", "/v1/jobs"] = jobs
        code, out, _ = self.run_ctl("ls", "--limit", "2", "-q")
        self.assertEqual((code, out), (0, "job-998\njob-997\n"))
        self.assertEqual(len(self.daemon.requests), 1)  # its cursor tells that there are more
        for form in ([], ["-q"], ["-o", "json"], ["-o", "yaml"]):
            self.assertIn("there are more; see --limit", self.run_ctl("ls", "--limit", "1", *form)[2])
        self.daemon.requests.clear()
        self.assertEqual(self.run_ctl("ls", "--limit", "1500", "-q")[1].count("\n"), 1500)

    def test_a_job_is_found_by_its_name_and_a_wrong_name_gets_a_suggestion(self):
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([example("job.json")]))
        self.daemon.routes["GET", "/v1/jobs/job-1/explain"] = (200, example("explain.json"))
        code, out, _ = self.run_ctl("why", "charlm-demo")
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith("job-1 is running: keeps 2 workers"), out)
        [asked] = self.daemon.sent("GET", "/v1/jobs")  # not all jobs are listed
        self.assertEqual(asked["query"], "name=charlm-demo&limit=1000")
        code, _, err = self.run_ctl("why", "charlm-dem")
        self.assertEqual(code, 3)
        self.assertIn('did you mean "charlm-demo"?', err)

    def test_a_name_of_several_jobs_means_the_one_that_lives(self):
        ended, alive = example("job.json"), example("job.json")
        ended.update(id="job-7", state="failed")
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([ended, alive]))
        self.daemon.routes["GET", "/v1/jobs/job-1/explain"] = (200, example("explain.json"))
        self.assertEqual(self.run_ctl("why", "charlm-demo")[0], 0)
        alive["state"] = "failed"
        code, _, err = self.run_ctl("why", "charlm-demo")
        self.assertEqual(code, 2)
        self.assertIn("job-7, job-1", err)

    def test_the_same_resource_as_json_and_yaml(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        self.assertEqual(json.loads(self.run_ctl("get", "job-1", "-o", "json")[1]), example("job.json"))
        self.assertIn('amount: "0.0042"', self.run_ctl("-o", "yaml", "get", "job-1")[1])

    def test_lists_of_the_cluster(self):
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([example("node.json")]))
        self.daemon.routes["GET", "/v1/policies"] = (200, listed([example("policy.json")]))
        self.daemon.routes["GET", "/v1/decisions"] = (200, listed([example("decision.json")]))
        self.daemon.routes["GET", "/v1/tokens"] = (200, listed(
            [{"id": "tok-1", "name": "me", "role": "admin", "tenant": "", "created_at": "2026-11-20T21:53:24Z",
              "expires_at": None, "state": "valid", "revoked": False}]))
        self.daemon.routes["GET", "/v1/pools"] = (200, listed([example("pool.json")]))
        for args, words in [(["nodes"], "node-1"), (["pools"], "gpu (spot)"), (["pools"], "idle since"),
                            (["pools"], "creating a node of gpu has failed 2 times in a row"),
                            (["pools"], "listing the nodes of gpu has failed since"), (["policy", "ls"], "*d  tidal"),
                            (["decisions"], "growing 2 -> 3"), (["token", "ls"], "tok-1")]:
            code, out, err = self.run_ctl(*args, COLUMNS="80")
            self.assertEqual((code, err), (0, ""))
            self.assertIn(words, out)
            self.assertTrue(all(len(line) <= 80 for line in out.splitlines()), out)

    # --- acting ---

    def test_actions_send_what_they_say(self):
        for method, path in [("DELETE", "/v1/jobs/job-1"), ("POST", "/v1/jobs/job-1/suspend"),
                             ("POST", "/v1/jobs/job-1/resume"), ("POST", "/v1/jobs/job-1/resize")]:
            self.daemon.routes[method, path] = (200, example("job.json"))
        self.assertEqual(self.run_ctl("cancel", "job-1")[1], "job-1 will be cancelled\n")
        self.assertEqual(self.run_ctl("suspend", "job-1")[0], 0)
        self.assertEqual(self.run_ctl("resume", "job-1")[0], 0)
        self.assertEqual(self.run_ctl("resize", "job-1", "3")[1], "job-1 will be resized to 3 workers\n")
        [request] = self.daemon.sent("POST", "/v1/jobs/job-1/resize")
        self.assertEqual(json.loads(request["body"]), {"size": 3})

    def test_an_action_on_several_jobs_tries_each_and_says_what_became_of_it(self):
        self.daemon.routes["DELETE", "/v1/jobs/job-1"] = (200, example("job.json"))
        self.daemon.routes["DELETE", "/v1/jobs/job-2"] = (409, {"title": "The job has ended",
                                                                "detail": "job-2 has succeeded"})
        self.daemon.routes["DELETE", "/v1/jobs/job-3"] = (200, example("job.json"))
        code, out, err = self.run_ctl("cancel", "job-1", "job-2", "job-3")
        self.assertEqual((code, out), (1, "job-1 will be cancelled\njob-3 will be cancelled\n"))
        self.assertEqual(err, "schedctl: job-2: The job has ended: job-2 has succeeded\n")
        code, out, err = self.run_ctl("cancel", "job-1", "job-3", "-o", "json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([json.loads(line)["id"] for line in out.splitlines()], ["job-1", "job-1"])  # the example's
        for action, words in (("suspend", "will be suspended"), ("resume", "will go on"),
                              ("checkpoint", "takes a checkpoint; see: schedctl events job-")):
            for job in ("job-1", "job-3"):
                self.daemon.routes["POST", f"/v1/jobs/{job}/{action}"] = (200, example("job.json"))
            code, out, _ = self.run_ctl(action, "job-1", "job-3")
            self.assertEqual((code, out.count(words)), (0, 2))

    def drained_node(self, drained):
        return {**example("node.json"), "drain": {"since": "2026-11-20T21:53:20Z", "reason": "a new disk",
                                                  "deadline": "2026-11-20T22:03:20Z", "cause": "operator",
                                                  "drained": drained}}

    def test_a_node_is_drained_by_its_name_and_waited_for(self):
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([example("node.json")]))
        self.daemon.routes["POST", "/v1/nodes/node-1/drain"] = (200, self.drained_node(False))
        code, out, err = self.run_ctl("drain", "local", "--deadline", "90s", "--reason", "a new disk")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "local is draining until 2026-11-20 22:03:20 UTC; schedctl undrain local takes it back\n")
        [request] = self.daemon.sent("POST", "/v1/nodes/node-1/drain")
        self.assertEqual(json.loads(request["body"]), {"deadline": "90s", "reason": "a new disk"})
        self.assertEqual(self.run_ctl("drain", "node-1", "--deadline", "soon")[0], 2)
        code, _, err = self.run_ctl("drain", "node-7")
        self.assertEqual(code, 3)
        self.assertIn("there is no node node-7", err)

    def test_waiting_for_a_drain_ends_when_the_node_is_empty_or_lost_or_the_drain_is_cancelled(self):
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([example("node.json")]))
        self.daemon.routes["POST", "/v1/nodes/node-1/drain"] = (200, self.drained_node(False))
        of_node = {"node": "node-1", "job": None}
        for kind, code, words in [("node.drained", 0, "local is drained"), ("node.undrained", 1, "drain of local was"),
                                  ("node.lost", 1, "local is lost: which workers are left there is known once")]:
            self.daemon.routes["GET", "/v1/events/stream"] = lambda request, kind=kind: (200, [sse(
                {**event(81, "node.drained"), "job": None, "node": "node-2"}, {**event(82, kind), **of_node})])
            ended, out, err = self.run_ctl("drain", "node-1", "--wait")
            self.assertEqual((ended, words in out + err), (code, True), out + err)
        self.daemon.routes["POST", "/v1/nodes/node-1/drain"] = (200, {**self.drained_node(False), "state": "lost"})
        code, out, err = self.run_ctl("drain", "node-1", "--wait")
        self.assertEqual(out, "local is lost, draining until 2026-11-20 22:03:20 UTC; schedctl undrain local takes it "
                              "back\n")
        self.assertEqual((code, "local is lost: which workers" in err), (1, True), err)

    def test_nodes_are_cordoned_and_taken_back(self):
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([example("node.json")]))
        for action, words in [("cordon", "gets no new workers; those on it stay"),
                              ("uncordon", "gets new workers again"), ("undrain", "is no longer being drained")]:
            self.daemon.routes["POST", "/v1/nodes/node-1/" + action] = (200, example("node.json"))
            self.assertEqual(self.run_ctl(action, "node-1")[:2], (0, f"local {words}\n"))
            self.assertEqual(len(self.daemon.sent("POST", "/v1/nodes/node-1/" + action)), 1)

    def test_the_faults_of_a_node_are_cleared(self):
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([example("node.json")]))
        self.daemon.routes["POST", "/v1/nodes/node-1/clear-faults"] = (200, example("node.json"))
        self.assertEqual(self.run_ctl("node", "clear-faults", "local")[:2], (0, "local is up\n"))
        self.assertEqual(len(self.daemon.sent("POST", "/v1/nodes/node-1/clear-faults")), 1)

    def test_a_revocation_says_that_it_stops_no_process(self):
        node = example("node.json")
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([node]))
        self.daemon.routes["POST", "/v1/nodes/node-1/revoke"] = (200, node)
        code, out, _ = self.run_ctl("node", "revoke", "local", "--reason", "disk stolen")
        self.assertEqual(code, 0)
        self.assertIn("local is revoked: its certificate is refused from now on", out)
        self.assertIn("processes on that machine are not stopped", out)

    def test_a_lost_node_is_removed(self):
        node = {**example("node.json"), "state": "lost"}
        node["access"] = {**node["access"], "by": "shared_token"}
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([node]))
        self.daemon.routes["DELETE", "/v1/nodes/node-1"] = (200, node)
        self.assertEqual(self.run_ctl("node", "remove", "local")[:2], (0, "local is removed\n"))
        let_in = {**node, "access": {**node["access"], "by": "certificate", "revoked_at": None}}
        self.daemon.routes["DELETE", "/v1/nodes/node-1"] = (200, let_in)
        self.assertIn("schedctl node revoke local", self.run_ctl("node", "remove", "local")[1])
        self.daemon.routes["DELETE", "/v1/nodes/node-1"] = (200, {"id": "node-1"})  # to a repeated request
        self.assertEqual(self.run_ctl("node", "remove", "local")[:2], (0, "local is removed\n"))
        self.daemon.routes["DELETE", "/v1/nodes/node-1"] = (
            409, {"status": 409, "code": "Conflict", "detail": "local is not lost"})
        code, _, err = self.run_ctl("node", "remove", "local")
        self.assertEqual((code != 0, "local is not lost" in err), (True, True))

    def test_the_quarantined_slots_of_a_node_are_released(self):
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([example("node.json")]))
        self.daemon.routes["POST", "/v1/nodes/node-1/release-slots"] = (200, example("node.json"))
        self.assertEqual(self.run_ctl("node", "release-slots", "local")[:2], (0, "local is up\n"))
        self.assertEqual(len(self.daemon.sent("POST", "/v1/nodes/node-1/release-slots")), 1)

    def test_maintenance_windows_are_added_listed_and_taken_away(self):
        window = {"id": "mw-1", "state": "planned", "selector": {"rack": ["r1", "r2"]}, "nodes": ["node-1"],
                  "from": "2026-11-25T02:00:00.000Z", "to": "2026-11-25T04:00:00.000Z", "lead": "10m",
                  "every": "7d", "reason": "firmware"}
        self.daemon.routes["POST", "/v1/maintenance"] = (201, window)
        code, out, err = self.run_ctl("maintenance", "add", "--selector", "rack=r1,r2", "--from", "2026-11-25T02:00",
                                      "--to", "2026-11-25T04:00Z", "--every", "7d", "--reason", "firmware")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "mw-1 is planned: 1 node, empty at 2026-11-25 02:00:00, "
                              "back at 2026-11-25 04:00:00 UTC\n")
        [request] = self.daemon.sent("POST", "/v1/maintenance")
        self.assertEqual(json.loads(request["body"]), {
            "selector": {"rack": ["r1", "r2"]}, "from": "2026-11-25T02:00:00Z", "to": "2026-11-25T04:00:00Z",
            "every": "7d", "reason": "firmware"})
        self.run_ctl("maintenance", "add", "--selector", "rack=r1", "--selector", "zone=a", "--selector", "rack=r2,r3",
                     "--from", "2026-11-25T02:00", "--to", "2026-11-25T04:00")
        self.assertEqual(json.loads(self.daemon.requests[-1]["body"])["selector"],
                         {"rack": ["r1", "r2", "r3"], "zone": ["a"]})
        for wrong in (["--from", "2026-11-25T02:00"], ["local", "--from", "soon"]):
            self.assertEqual(self.run_ctl("maintenance", "add", *wrong, "--to", "2026-11-25T04:00")[0], 2)
        self.daemon.routes["GET", "/v1/maintenance"] = (200, listed([window]))
        code, out, _ = self.run_ctl("maintenance", "ls")
        self.assertEqual(self.run_ctl("maintenance", "list"), (code, out, ""))  # its former name
        self.assertIn("mw-1    planned  rack=r1", out)
        self.daemon.routes["DELETE", "/v1/maintenance/mw-1"] = (200, window)
        self.assertEqual(self.run_ctl("maintenance", "remove", "mw-1")[1], "mw-1 is removed\n")

    def test_labels_of_a_node_are_set_and_taken_away(self):
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([example("node.json")]))
        self.daemon.routes["POST", "/v1/nodes/node-1/labels"] = (200, example("node.json"))
        code, out, _ = self.run_ctl("node", "label", "local", "rack=r1", "disk-")
        self.assertEqual((code, out), (0, "local has rack=r1\n"))
        sent = self.daemon.sent("POST", "/v1/nodes/node-1/labels")
        self.assertEqual([json.loads(one["body"]) for one in sent], [{"labels": {"rack": "r1", "disk": None}}])
        for wrong, told in ((["rack"], "neither KEY=VALUE"), (["rack=a", "rack-"], "named twice")):
            code, _, err = self.run_ctl("node", "label", "local", *wrong)
            self.assertEqual(code, 2)
            self.assertIn(told, err)

    def test_a_refusal_is_told_in_the_daemons_words(self):
        self.daemon.routes["DELETE", "/v1/jobs/job-1"] = (
            409, {"title": "The job has ended", "detail": "job-1 has succeeded", "hint": "nothing to do"})
        code, out, err = self.run_ctl("cancel", "job-1")
        self.assertEqual((code, out), (3, ""))
        self.assertEqual(err, "schedctl: The job has ended: job-1 has succeeded\nhint: nothing to do\n")

    def test_a_new_token_is_printed_once_and_alone(self):
        self.daemon.routes["POST", "/v1/tokens"] = (201, {"id": "tok-2", "token": "secret"})
        code, out, err = self.run_ctl("token", "create", "bob", "--role", "viewer", "--lifetime", "30d")
        self.assertEqual((code, out), (0, "secret\n"))
        self.assertEqual(err, "keep it now: only its hash is stored. Revoke it with: schedctl token revoke tok-2\n")
        [request] = self.daemon.sent("POST", "/v1/tokens")
        self.assertEqual(json.loads(request["body"]), {"name": "bob", "role": "viewer", "lifetime": "30d"})
        self.assertEqual(self.run_ctl("token", "create", "bob", "--lifetime", "soon")[0], 2)
        self.run_ctl("token", "create", "bob", "--role", "viewer", "--ttl", "30d")
        self.assertEqual(self.daemon.requests[-1]["body"], request["body"])

    def test_a_new_node_token_is_printed_alone_and_not_with_the_advice_beside_it(self):
        self.daemon.routes["POST", "/v1/node-tokens"] = (201, {"id": "ntok-1", "token": "tpn_secret",
                                                               "agents_port": 7481})
        code, out, err = self.run_ctl("node", "token", "create")
        self.assertEqual((code, out), (0, "tpn_secret\n"))
        self.assertIn("\n  agentd join --daemon 127.0.0.1:7481 --token TOKEN\n", err)
        self.assertIn("schedctl node token revoke ntok-1", err)
        self.assertNotIn("tpn_secret", err)
        code, out, err = self.run_ctl("node", "token", "create", "-o", "json")
        self.assertEqual((json.loads(out)["token"], err), ("tpn_secret", ""))

    # --- offline ---

    def test_the_simulator_prints_one_object_and_the_same_digest_for_the_same_seed(self):
        args = ["sim", "run", "--workload", "generated", "--jobs", "12", "--cluster", "2x4", "--seed", "7"]
        code, out, err = self.run_ctl(*args, "--per-job", "jobs.csv", "--decisions", "decisions.jsonl")
        self.assertEqual((code, err), (0, ""))
        [line] = out.splitlines()
        board = json.loads(line)
        self.assertEqual((board["jobs"], board["completed"]), (12, 12))
        self.assertEqual(list(board)[:3], ["policy", "workload", "cluster"])
        self.assertEqual(len((self.folder / "jobs.csv").read_text().splitlines()), 13)
        for decision in (self.folder / "decisions.jsonl").read_text().splitlines():
            json.loads(decision)
        self.assertEqual(json.loads(self.run_ctl(*args, "-o", "json")[1])["digest"], board["digest"])
        self.assertNotEqual(json.loads(self.run_ctl(*args[:-1], "8")[1])["digest"], board["digest"])
        self.assertEqual(self.daemon.requests, [])

    def test_the_simulators_options_are_checked(self):
        for args, words in [(["--cluster", "0x4"], "cluster"), (["--policy", "no_such"], "no_such"),
                            (["--workload", "missing.csv"], "missing.csv cannot be read"),
                            (["--cooldown", "soon"], "--cooldown"), (["--simulator", "dreamt"], "dreamt"),
                            (["--jobs", "0"], "1 to 1000000"),
                            (["--jobs", "2", "--per-job", "/missing/jobs.csv"], "cannot be written")]:
            code, out, err = self.run_ctl("sim", "run", *args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(words, err)

    # --- trouble ---

    def test_no_daemon_says_how_to_start_one(self):
        code, out, err = self.run_ctl("ls", TIDEPOOL_URL="http://127.0.0.1:1")
        self.assertEqual((code, out), (5, ""))
        self.assertEqual(err, "schedctl: no daemon answers at http://127.0.0.1:1; start it; to try things out: "
                              "schedulerd --dev\n")
        code, _, err = self.run_ctl("ls", TIDEPOOL_URL="https://127.0.0.1:1", TIDEPOOL_TOKEN="t")
        self.assertEqual(code, 5)
        self.assertNotIn("--dev", err)
        self.assertIn("check that it runs", err)

    def test_a_daemon_without_tls_is_told_apart_from_one_that_is_away(self):
        code, _, err = self.run_ctl("ls", TIDEPOOL_URL=self.daemon.url.replace("http:", "https:"))
        self.assertEqual(code, 5)
        self.assertIn("if it speaks plain HTTP, its address begins with http://", err)

    def test_a_connection_that_breaks_tells_what_is_not_known(self):
        def broken(_):
            raise ConnectionResetError("the daemon is gone before it answers")
        self.daemon.server.handle_error = lambda *_: None  # that one is meant
        self.daemon.routes["POST", "/v1/jobs"] = broken
        code, _, err = self.run_ctl("submit", "--idempotency-key", "mine", str(self.job_file()))
        self.assertEqual(code, 5)
        err = " ".join(err.split())
        self.assertIn("closed the connection before it answered; it is not known whether it was carried out: schedctl "
                      "ls tells, and submitting again with --idempotency-key mine makes no second job", err)
        code, _, err = self.run_ctl("submit", "--dry-run", str(self.job_file()))
        self.assertEqual(code, 5)
        self.assertNotIn("not known", err)
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([{**example("job.json"), "name": "train"}]))
        self.daemon.routes["DELETE", "/v1/jobs/job-1"] = broken
        err = " ".join(self.run_ctl("cancel", "train")[2].split())
        self.assertIn("it was carried out: look before you ask again", err)
        self.assertNotIn("TLS", err)  # the same daemon has just answered
        self.daemon.routes["GET", "/v1/jobs/job-1"] = broken
        err = " ".join(self.run_ctl("get", "train")[2].split())
        self.assertIn("closed the connection before it answered; look whether it still runs, and ask again", err)

    def test_a_name_that_no_job_can_have_is_not_asked_for(self):
        code, _, err = self.run_ctl("why", "\x1b[31m")
        self.assertEqual((code, self.daemon.requests), (3, []))
        self.assertIn('no job is called "?[31m"; see: schedctl ls', err)

    def test_a_list_in_a_pipe_is_not_cut_unless_its_width_is_said(self):
        job = example("job.json")
        job["reason"]["text"] = "why " * 60 + "it is so"
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([job]))
        self.assertIn("it is so", self.run_ctl("ls")[1])
        out = self.run_ctl("ls", COLUMNS="80")[1]
        self.assertNotIn("it is so", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_a_silent_daemon_is_a_timeout(self):
        hold = threading.Event()
        self.addCleanup(hold.set)

        def slow(_):
            hold.wait(20)
            return (200, listed([]))

        self.daemon.routes["GET", "/v1/jobs"] = slow
        code, _, err = self.run_ctl("ls", "--timeout", "1")
        hold.set()
        self.assertEqual(code, 4)
        self.assertIn("did not answer within 1 s", err)

    def test_an_answer_that_is_no_json_is_named(self):
        self.daemon.routes["GET", "/v1/jobs"] = (200, "<html>")
        self.assertIn("is it a tidepool daemon?", self.run_ctl("ls")[2])
        self.daemon.routes["GET", "/v1/jobs"] = (502, "<html>")
        self.assertIn("status 502", self.run_ctl("ls")[2])

    def test_values_that_cannot_be_meant_are_refused_in_plain_words(self):
        for args, words in [(["resize", "job-1", "-1"], "size: must be a whole number from 0 to 4096, not \"-1\""),
                            (["resize", "job-1", "abc"], "not \"abc\""), (["resize", "job-1", "1.5"], "not \"1.5\""),
                            (["ls", "--limit", "0"], "from 1 to 1000000"), (["ls", "--limit", "-1"], "not \"-1\""),
                            (["events", "--limit", "-1"], "not \"-1\""), (["decisions", "--limit", "x"], "not \"x\""),
                            (["submit", "a.yaml", "--idempotency-key", ""], "--idempotency-key: must not be empty"),
                            (["ls", "--token", ""], "--token: must not be empty"),
                            (["token", "create", ""], "name: must not be empty"),
                            (["node", "token", "create", "--labels", "a=b,a=c"], "names a twice")]:
            code, out, err = self.run_ctl(*args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(words, err)
        self.assertEqual(self.daemon.requests, [])

    def test_usage_errors_exit_2_and_suggest(self):
        code, _, err = self.run_ctl("wach", "job-1")
        self.assertEqual(code, 2)
        self.assertIn('"wach" is not a command; did you mean "watch"?', err)
        for word, meant in [("delete", "cancel"), ("jobs", "ls"), ("describe", "get"), ("run", "submit")]:
            self.assertIn('"%s" is not a command; did you mean "%s"?' % (word, meant), self.run_ctl(word, "job-1")[2])
        for args in [[], ["ls", "--state", "sleeping"], ["resize", "job-1", "-1"], ["resize", "job-1"],
                     ["ls", "-o", "xml"], ["ls", "--url", "ftp://127.0.0.1"], ["ls", "--token-file", "/missing"],
                     ["watch", "job-1", "--within", "soon"]]:
            code, out, err = self.run_ctl(*args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertTrue(err.startswith("schedctl: "), args)
        self.assertEqual(self.run_ctl("--help")[0], 0)

    def test_the_time_for_an_answer_has_a_unit_as_all_times_or_is_in_seconds(self):
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([]))
        for given in ("30", "30s", "2m", "24h"):
            self.assertEqual(self.run_ctl("ls", "--timeout", given)[0], 0, given)
        for given, words in (("25h", "from 1 to 86400"), ("500ms", "must be of whole seconds"), ("0s", "from 1 to"),
                             ("soon", "soon"), ("010", "no 0 before its first digit")):
            code, out, err = self.run_ctl("ls", "--timeout", given)
            self.assertEqual((code, out), (2, ""), given)
            self.assertIn(words, err)

    def test_an_option_that_is_not_known_is_told_with_the_nearest(self):
        for args, words in [(["ls", "--stat", "running"], "--stat: no such option; did you mean --state?"),
                            (["--urll=x", "ls"], "--urll: no such option; did you mean --url?"),
                            (["node", "token", "create", "--use", "2"], "did you mean --uses?"),
                            (["ls", "more"], "\"more\" is not expected here")]:
            code, out, err = self.run_ctl(*args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(words, err)
            self.assertEqual(err.count("\n"), 2, err)

    def test_the_token_comes_from_the_nearest_place(self):
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([]))
        stored = self.folder / ".local/share/tidepool"
        stored.mkdir(parents=True)
        (stored / "admin.token").write_text("from-home\n")
        (self.folder / "tok").write_text("from-file\n")
        self.run_ctl("ls")
        self.run_ctl("ls", TIDEPOOL_TOKEN="from-environment")
        self.run_ctl("ls", "--token-file", "tok", TIDEPOOL_TOKEN="from-environment")
        self.run_ctl("ls", "--token", "given", "--token-file", "tok")
        self.assertEqual([r["headers"]["Authorization"] for r in self.daemon.requests],
                         ["Bearer from-home", "Bearer from-environment", "Bearer from-file", "Bearer given"])

    def test_a_missing_token_is_explained(self):
        self.daemon.routes["GET", "/v1/jobs"] = (401, {"title": "A token is needed"})
        code, _, err = self.run_ctl("ls")
        self.assertEqual(code, 3)
        self.assertNotIn("Authorization", self.daemon.requests[0]["headers"])
        self.assertIn("TIDEPOOL_TOKEN", err)

    def test_the_completion_script_is_good_bash_and_knows_the_commands(self):
        code, out, _ = self.run_ctl("completion", "bash")
        self.assertEqual(code, 0)
        self.assertRegex(out, r'"cancel "\*\) words="[^"]*" jobs=1 ;;')  # also behind the first job
        for words, offered in ((["w"], ["why", "watch"]), (["node", "token", "create", "--u"], ["--uses", "--url"]),
                               (["policy", "diff", "--si"], ["--since"]), (["ls", "--state", "su"],
                                                                         ["succeeded", "suspended", "suspending"]),
                               (["events", "--type", "job.res"], ["job.resized", "job.resizing", "job.restored",
                                                                  "job.resize_requested", "job.resume_requested",
                                                                  "job.resumed"])):
            line = " ".join(["schedctl", *words])
            probe = f'{out}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _schedctl; echo "${{COMPREPLY[@]}}"\n'
            done = subprocess.run(["bash", "-euo", "pipefail"], input=probe, capture_output=True, text=True)
            self.assertEqual((done.returncode, sorted(done.stdout.split()), done.stderr), (0, sorted(offered), ""))


if __name__ == "__main__":
    unittest.main()
