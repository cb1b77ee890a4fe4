"""What schedctl follows: watch, events and logs, over a real socket.

The peer here is a small server that answers with the shapes of api/examples.
"""

import copy
import json
import os
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.environ["TIDEPOOL_SOURCE_DIR"])

from tests.support.schedctl_case import SCHEDCTL, SchedctlCase, event, example, listed, sse  # noqa: E402


class StreamsTest(SchedctlCase):
    def setUp(self):
        super().setUp()
        self.daemon.routes["GET", "/v1/jobs/job-1/workers"] = (200, listed([]))

    # --- watching ---

    def watched(self, state):
        job = copy.deepcopy(example("job.json"))
        running = copy.deepcopy(job)
        running["state"] = "running"
        running["reason"] = {"code": "EfficiencySettled", "numbers": {}, "text": "keeps 2 workers: a third adds little"}
        ended = {**running, "state": state, "size": 0, "reason": {"code": "Finished", "numbers": {}, "text": "done"}}
        self.streamed = threading.Event()

        def get_job(_):
            return (200, ended if self.streamed.is_set() else running)

        def stream(request):
            self.streamed.set()
            self.after = request["query"]
            progress = example("event.json")
            return (200, [": hello\n\n", sse(progress),
                          sse(event(82, "job.resizing", **{"from": 2, "to": 3, "reason": {"text": "worth a try"}})),
                          sse(event(83, "job.started", job="job-9", size=1)),
                          sse(event(84, "worker.straggling", worker="w-2", score=0.5, threshold=0.8)),
                          sse(event(85, "job.finished", state=state, steps=400, loss=1.5))])

        self.daemon.routes["GET", "/v1/jobs/job-1"] = get_job
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (200, listed([event(3, "job.started", size=2)]))
        self.daemon.routes["GET", "/v1/jobs/job-1/metrics"] = (200, example("job_metrics.json"))
        self.daemon.routes["GET", "/v1/events/stream"] = stream

    def test_watch_tells_what_happens_and_sums_up(self):
        self.watched("succeeded")
        code, out, err = self.run_ctl("watch", "job-1", "--summary")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.after, "after=80")
        for words in ["training with 2 workers", "keeps 2 workers: a third adds little", "resizing 2 -> 3: worth a try",
                      "worker w-2 is slow: 50 %", "succeeded after 400 steps, loss 1.5", "step 120/400", "loss 2.31",
                      "9,120 samples/s", "0.0042 USD", "Loss 4.52 -> 2.31, down 49 %", "Held 15.1 slot-seconds"]:
            self.assertIn(words, out)
        self.assertNotIn("\r", out)
        self.assertNotIn("\033", out)
        self.assertNotIn("training with 1 worker\n", out)

    def test_watch_of_a_job_that_fails_answers_no(self):
        self.watched("failed")
        self.assertEqual(self.run_ctl("watch", "job-1")[0], 1)

    def test_watch_as_json_is_one_event_a_line(self):
        self.watched("succeeded")
        code, out, _ = self.run_ctl("watch", "job-1", "--summary", "-o", "json")
        self.assertEqual(code, 0)
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["type"] for line in lines],
                         ["job.started", "job.progressed", "job.resizing", "worker.straggling", "job.finished",
                          "summary"])

    def test_watch_goes_on_where_a_broken_connection_ended(self):
        self.watched("succeeded")
        whole = self.daemon.routes["GET", "/v1/events/stream"]
        asked = []

        def broken_once(request):
            asked.append(request["query"])
            status, pieces = whole(request)
            return (status, pieces[:3] if len(asked) == 1 else pieces)

        self.daemon.routes["GET", "/v1/events/stream"] = broken_once
        code, out, _ = self.run_ctl("watch", "job-1")
        self.assertEqual(code, 0)
        self.assertEqual(asked, ["after=80", "after=82"])
        self.assertEqual(out.count("worth a try"), 1)

    def test_watch_tells_how_a_job_ended_that_it_sees_ended_before_the_event_comes(self):
        self.watched("failed")
        told = self.daemon.routes["GET", "/v1/jobs/job-1"]
        seen_ended = threading.Event()

        def get_job(request):
            reply = told(request)
            if self.streamed.is_set():
                seen_ended.set()
            return reply

        def stream(_):
            self.streamed.set()

            def pieces():
                for seq in range(81, 10_000):
                    if seen_ended.wait(0.02):
                        break
                    yield sse({**example("event.json"), "seq": seq})
                yield sse(event(10_000, "job.finished", state="failed", steps=400, error="w-1 exited with code 1"))
            return (200, pieces())

        self.daemon.routes["GET", "/v1/jobs/job-1"] = get_job
        self.daemon.routes["GET", "/v1/events/stream"] = stream
        code, out, _ = self.run_ctl("watch", "job-1")
        self.assertEqual(code, 1)
        self.assertIn("failed after 400 steps: w-1 exited with code 1", out.splitlines()[-1])

    def test_watch_lists_again_when_the_daemon_no_longer_has_the_past(self):
        self.watched("succeeded")
        whole = self.daemon.routes["GET", "/v1/events/stream"]
        asked = []

        def reset_once(request):
            asked.append(request["query"])
            if len(asked) == 1:
                return (200, ["event: reset\ndata: {\"oldest_seq\": 70, \"latest_seq\": 80}\n\n"])
            return whole(request)

        self.daemon.routes["GET", "/v1/events/stream"] = reset_once
        self.assertEqual(self.run_ctl("watch", "job-1")[0], 0)
        self.assertEqual(len(asked), 2)

    def test_watch_of_an_ended_job_reads_its_events_to_the_last_one(self):
        self.watched("cancelled")
        self.streamed.set()
        last = 101

        def events(request):
            query = dict(part.split("=") for part in request["query"].split("&"))
            page = int(query.get("cursor", "events.1").removeprefix("events."))
            first = 1000 * (page - 1)
            items = [{"seq": first + i + 1} for i in range(1000)]
            if page == last:
                items.append(event(first + 2000, "job.finished", state="cancelled", steps=4, loss=1.5))
            return (200, listed(items, "events.%d" % (page + 1) if page < last else None))

        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = events
        code, out, _ = self.run_ctl("watch", "job-1")
        self.assertEqual(code, 1)
        self.assertIn("cancelled", out.splitlines()[-1])

    def test_watch_gives_up_when_told_to(self):
        self.watched("succeeded")
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.daemon.routes["GET", "/v1/events/stream"] = (200, [": hello\n\n", hold])
        code, _, err = self.run_ctl("watch", "job-1", "--within", "1s")
        self.assertEqual(code, 4)
        self.assertIn("has not ended in the given time", err)

    def test_ctrl_c_leaves_watch_quietly(self):
        self.watched("succeeded")
        reached = threading.Event()
        hold = threading.Event()
        self.addCleanup(hold.set)

        def stream(_):
            reached.set()
            return (200, [": hello\n\n", hold])

        self.daemon.routes["GET", "/v1/events/stream"] = stream
        watching = subprocess.Popen([SCHEDCTL, "watch", "job-1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True, cwd=self.folder, env=self.environment())
        self.assertTrue(reached.wait(20))
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=20)
        self.assertEqual((watching.returncode, err), (130, ""))

    def on_terminal(self, *words, **extra):
        master, slave = os.openpty()
        done = subprocess.Popen([SCHEDCTL, *words], stdout=slave, stderr=subprocess.PIPE, cwd=self.folder,
                                env=self.environment(COLUMNS="100", **extra))
        os.close(slave)
        seen = b""
        try:
            while piece := os.read(master, 65536):
                seen += piece
        except OSError:  # Linux: the other end is closed
            pass
        os.close(master)
        done.communicate(timeout=20)
        self.assertEqual(done.returncode, 0)
        return seen.decode()

    def test_watch_redraws_one_line_on_a_terminal(self):
        self.watched("succeeded")
        seen = self.on_terminal("watch", "job-1")
        self.assertIn("\r\x1b[K", seen)
        self.assertIn("resizing 2 -> 3: worth a try", seen)

    def test_colours_are_for_terminals_that_have_them_and_users_who_want_them(self):
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([example("job.json")]))
        for terminal, no_color, has_colours in [("xterm", "", True), ("dumb", "", False), ("xterm", "1", False)]:
            seen = self.on_terminal("ls", TERM=terminal, NO_COLOR=no_color)
            self.assertEqual("\x1b[" in seen, has_colours, (terminal, no_color))

    # --- events and logs ---

    def test_events_follow_as_json_lines(self):
        self.daemon.routes["GET", "/v1/events"] = (200, listed([event(79, "job.started", size=1),
                                                               event(78, "job.submitted", name="a")], "more.78"))
        asked = []

        def stream(request):
            asked.append(request["query"])
            if len(asked) > 1:
                return (403, {"title": "Enough"})
            return (200, [sse(event(81, "node.lost", job=None, name="n", why="silent"))])

        self.daemon.routes["GET", "/v1/events/stream"] = stream
        code, out, err = self.run_ctl("events", "-f", "-o", "json", "--limit", "2")
        self.assertEqual([r["query"] for r in self.daemon.sent("GET", "/v1/events")], ["order=desc&limit=2"])
        self.assertEqual([json.loads(line)["seq"] for line in out.splitlines()], [78, 79, 81])
        self.assertEqual(code, 3)
        self.assertIn("Enough", err)
        self.assertEqual(asked, ["after=80", "after=81"])

    def test_events_of_a_node_are_listed_and_followed(self):
        self.daemon.routes["GET", "/v1/events"] = (200, listed([event(78, "node.lost", name="n 1", why="silent")]))
        answers = [(200, [sse(event(81, "node.returned", job=None, name="n 1"))]), (403, {"title": "Enough"})]
        self.daemon.routes["GET", "/v1/events/stream"] = lambda _: answers.pop(0)
        nodes = [{"id": "node-3", "name": "n 2"}, {"id": "node-4", "name": "n 1"}]
        self.daemon.routes["GET", "/v1/nodes"] = lambda _: (200, listed([nodes.pop()]))  # asked for once
        code, out, _ = self.run_ctl("events", "--node", "n 1", "-f", "-o", "json", "--limit", "2")
        self.assertEqual((code, [json.loads(line)["seq"] for line in out.splitlines()]), (3, [78, 81]))
        self.assertEqual([r["query"] for r in self.daemon.sent("GET", "/v1/events")],
                         ["order=desc&node=node-4&limit=2"])
        self.assertEqual([r["query"] for r in self.daemon.sent("GET", "/v1/events/stream")],
                         ["after=80&node=node-4", "after=81&node=node-4"])
        self.assertEqual(self.run_ctl("events", "job-1", "--node", "n 1")[0], 2)

    def test_events_are_followed_past_those_that_are_no_longer_kept(self):
        self.daemon.routes["GET", "/v1/events"] = (200, listed([]))
        answers = [(200, ["id: 90\n: beat\n\n"]),
                   (200, ['id: 300\nevent: reset\ndata: {"oldest_seq": 200, "latest_seq": 300}\n\n']),
                   (200, [sse(event(205, "job.started", size=1))]),
                   (200, ['id: 7\nevent: reset\ndata: {"oldest_seq": 1, "latest_seq": 7}\n\n']),
                   (200, [sse(event(8, "job.started", size=1))]),
                   (403, {"title": "Enough"})]
        self.daemon.routes["GET", "/v1/events/stream"] = lambda _: answers.pop(0)
        code, out, err = self.run_ctl("events", "-f", "-o", "json")
        self.assertEqual((code, [json.loads(line)["seq"] for line in out.splitlines()]), (3, [205, 8]))
        self.assertEqual([r["query"] for r in self.daemon.sent("GET", "/v1/events/stream")],
                         ["after=80", "after=90", "after=199", "after=205", "after=7", "after=8"])
        skipped, replaced = err.splitlines()[:2]
        self.assertEqual(skipped, "schedctl: events 91 to 199 are skipped: the daemon no longer keeps them")
        self.assertRegex(replaced, "newest event is 7, before 205, .* its new events follow$")

    def test_events_that_were_listed_are_not_told_again_after_a_gap(self):
        lost = event(115, "node.lost", job=None, name="n", why="silent")
        self.daemon.routes["GET", "/v1/events"] = lambda request: (
            200, {**listed([lost]), "as_of_seq": 120} if "node.lost" in request["query"] else listed([]))
        answers = [(200, ['id: 300\nevent: reset\ndata: {"oldest_seq": 110, "latest_seq": 300}\n\n']),
                   (200, [sse(lost), sse(event(121, "node.lost", job=None, name="n", why="silent"))]),
                   (403, {"title": "Enough"})]
        self.daemon.routes["GET", "/v1/events/stream"] = lambda _: answers.pop(0)
        _, out, _ = self.run_ctl("events", "-f", "-o", "json", "--type", "job.started,node.lost")
        self.assertEqual([json.loads(line)["seq"] for line in out.splitlines()], [115, 121])

    def test_events_that_differ_in_their_time_only_are_one_line_with_a_count(self):
        def failed(seq, second, name="g1"):
            data = {"name": name, "fault": "Quota", "again_in_seconds": 60, "detail": "no quota"}
            return {**event(seq, "pool.create_failed", job=None, **data), "at": f"2026-11-20T21:53:{second}.004Z"}

        self.daemon.routes["GET", "/v1/events"] = (200, listed(
            [failed(79, 33), event(78, "job.started", size=1), failed(77, 32, "g2"), failed(76, 31), failed(75, 31)]))
        code, out, err = self.run_ctl("events")
        self.assertEqual((code, err, out.count("\n")), (0, "", 3))
        first, other, started = out.splitlines()
        self.assertRegex(other, r"making g2 failed .*: no quota$")
        self.assertRegex(first, r"21:53:31 UTC  pool\.create_failed  .*: no quota  \(3 times, last at .*21:53:33 UTC\)$")
        self.assertRegex(started, r"21:53:31 UTC  job\.started  job-1  training with 1 worker$")
        self.assertEqual(self.run_ctl("events", "--all")[1].count("pool.create_failed"), 4)
        self.assertEqual(self.run_ctl("events", "-o", "json")[1].count("pool.create_failed"), 4)

    def test_events_leave_out_what_comes_all_the_time_while_jobs_train_unless_it_is_asked_for(self):
        def audit(seq, used):
            return event(seq, "data.epoch_audited", epoch=3, expected=600, used=used, checksum_ok=True)

        started, progressed = event(78, "job.started", size=1), {**example("event.json"), "seq": 79}
        self.daemon.routes["GET", "/v1/events"] = lambda request: (
            200, listed([started] if "brief=true" in request["query"] else [progressed, started]))

        def stream(request):
            if len(self.daemon.sent("GET", "/v1/events/stream")) % 2 == 0:
                return (403, {"title": "Enough"})
            return (200, [sse({**progressed, "seq": 81}), sse(audit(82, 600)), sse(audit(83, 599))])

        self.daemon.routes["GET", "/v1/events/stream"] = stream
        told = self.run_ctl("events", "-f")[1].splitlines()
        self.assertEqual([line.split("  ")[1] for line in told], ["job.started", "data.epoch_audited"])
        self.assertIn("audit FAILED: 599 of 600", told[1])
        told = self.run_ctl("events", "-f", "--all")[1].splitlines()
        self.assertEqual([line.split("  ")[1] for line in told],
                         ["job.started", *["job.progressed"] * 2, *["data.epoch_audited"] * 2])
        self.assertIn("job.progressed", self.run_ctl("events", "-o", "json")[1])
        self.assertIn("job.progressed", self.run_ctl("events", "--type", "job.progressed")[1])

    def test_events_of_some_types_are_the_newest_of_all_of_them_and_followed_without_a_gap(self):
        of_type = {"worker.lost": [event(79, "worker.lost", worker="w-2"), event(70, "worker.lost", worker="w-1")],
                   "job.resizing": [event(75, "job.resizing", **{"from": 2, "to": 3})]}

        def events(request):
            kind = dict(part.split("=") for part in request["query"].split("&"))["type"]
            seen = 74 if kind == "worker.lost" else 80  # the second list was read later
            return (200, {**listed(of_type[kind]), "as_of_seq": seen})

        def stream(request):
            return (200, [sse(event(80, "job.resizing", **{"from": 3, "to": 2})), sse(event(81, "job.started", size=1)),
                          sse(event(82, "worker.lost", worker="w-3")),
                          sse(event(83, "job.resizing", **{"from": 2, "to": 1})),
                          sse(event(84, "job.finished", state="failed"))])

        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = events
        self.daemon.routes["GET", "/v1/events/stream"] = stream
        code, out, _ = self.run_ctl("events", "--type", "worker.lost,job.resizing,worker.lost", "job-1", "--limit", "2",
                                    "-f", "-o", "json")
        self.assertEqual((code, [json.loads(line)["seq"] for line in out.splitlines()]), (0, [75, 79, 82, 83]))
        self.assertEqual(self.daemon.sent("GET", "/v1/events/stream")[0]["query"], "after=79")
        self.assertEqual(len(self.daemon.sent("GET", "/v1/jobs/job-1/events")), 2)
        self.assertIn("--type", self.run_ctl("completion", "bash")[1])

    def test_followed_events_of_a_job_end_with_the_job(self):
        job = {**example("job.json"), "state": "running"}
        finished = event(83, "job.finished", state="succeeded", steps=4, loss=1.5)
        self.daemon.routes["GET", "/v1/jobs/job-1"] = lambda _: (200, job)
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (200, listed([event(79, "job.started", size=1)]))
        answers = [(200, [sse(event(81, "job.finished", job="job-2", state="failed")), sse(finished),
                          sse(event(84, "worker.exited", worker="w-1"))])]
        self.daemon.routes["GET", "/v1/events/stream"] = lambda _: answers.pop(0)
        code, out, _ = self.run_ctl("events", "job-1", "-f", "-o", "json")
        self.assertEqual((code, [json.loads(line)["seq"] for line in out.splitlines()]), (0, [79, 83]))

        # It ends while its events are listed: they are listed once more, and nothing is followed.
        job["state"] = "succeeded"
        lists = [[event(79, "job.started", size=1)], [finished, event(79, "job.started", size=1)]]
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = lambda _: (200, listed(lists.pop(0)))
        code, out, _ = self.run_ctl("events", "job-1", "-f", "-o", "json")
        self.assertEqual((code, [json.loads(line)["seq"] for line in out.splitlines()]), (0, [79, 83]))

    def test_followed_events_of_a_job_end_where_its_end_is_among_those_that_are_skipped(self):
        jobs = [{**example("job.json"), "state": state} for state in ("running", "succeeded")]
        self.daemon.routes["GET", "/v1/jobs/job-1"] = lambda _: (200, jobs.pop(0))
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (200, listed([]))
        answers = [(200, ['id: 300\nevent: reset\ndata: {"oldest_seq": 200, "latest_seq": 300}\n\n'])]
        self.daemon.routes["GET", "/v1/events/stream"] = lambda _: answers.pop(0)
        code, out, err = self.run_ctl("events", "job-1", "-f", "-o", "json")
        self.assertEqual((code, out), (0, ""))
        self.assertIn("are skipped", err)

    def test_what_comes_one_by_one_is_a_yaml_document_each(self):
        self.daemon.routes["GET", "/v1/events"] = (200, listed([event(79, "job.started", size=1),
                                                               event(78, "job.submitted", name="a")]))
        code, out, err = self.run_ctl("events", "-o", "yaml")
        self.assertEqual((code, err), (0, ""))
        documents = out.split("---\n")
        self.assertEqual(len(documents), 3)
        self.assertIn("type: job.submitted\n", documents[1])
        self.assertIn("data:\n  size: 1\n", documents[2])
        self.watched("succeeded")
        self.assertEqual(self.run_ctl("watch", "job-1", "-o", "yaml")[1].count("---\n"), 5)

    def log_pages(self, pages):
        """Answers logs by (worker, offset) -> (text, next offset, end)."""

        def logs(request):
            query = dict(part.split("=") for part in request["query"].split("&"))
            text, following, end = pages[query["worker"], int(query["offset"])]
            return (200, text, {"Tidepool-Next-Offset": str(following), "Tidepool-Log-End": "true" if end else "false"})

        self.daemon.routes["GET", "/v1/jobs/job-1/logs"] = logs

    def test_logs_of_all_workers_name_each_line(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (200, listed(
            [event(1, "worker.started", worker="w-1"), event(2, "worker.started", worker="w-2")]))
        one = "o" * 65_533  # with what follows a whole page
        self.log_pages({("w-1", 0): (one + "\ntw", 65_536, False), ("w-1", 65_536): ("o\n", 65_538, False),
                        ("w-1", -4): ("two\n", 65_538, False), ("w-2", 0): ("last\033[2J", 8, True)})
        code, out, err = self.run_ctl("logs", "job-1")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, f"w-1 | {one}\nw-1 | two\nw-2 | last?[2J\n")

    def test_logs_of_one_worker_are_followed_to_its_end(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        pages = {("w-1", 0): ("one\n", 4, False), ("w-1", 4): ("", 4, False)}
        self.log_pages(pages)
        following = subprocess.Popen([SCHEDCTL, "logs", "job-1", "-f", "--worker", "w-1"], stdout=subprocess.PIPE,
                                     text=True, cwd=self.folder, env=self.environment())
        self.assertEqual(following.stdout.readline(), "one\n")
        pages["w-1", 4] = ("two\n", 8, True)
        out, _ = following.communicate(timeout=20)
        self.assertEqual((following.returncode, out), (0, "two\n"))

    def test_followed_logs_read_each_worker_once_from_the_events(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        started = [event(81, "worker.started", worker="w-1")]

        def events(request):
            query = dict(part.split("=") for part in request["query"].split("&"))
            self.assertEqual(query["type"], "worker.started")
            return (200, listed([e for e in started if e["seq"] > int(query["after"])]))

        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = events
        pages = {("w-1", 0): ("one\n", 4, False), ("w-1", 4): ("", 4, False), ("w-2", 0): ("two\n", 4, True)}
        self.log_pages(pages)
        following = subprocess.Popen([SCHEDCTL, "logs", "job-1", "-f"], stdout=subprocess.PIPE,
                                     text=True, cwd=self.folder, env=self.environment())
        self.assertEqual(following.stdout.readline(), "w-1 | one\n")
        started.append(event(82, "worker.started", worker="w-2"))
        self.assertEqual(following.stdout.readline(), "w-2 | two\n")
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, {**example("job.json"), "state": "succeeded"})
        pages["w-1", 4] = ("end\n", 8, True)
        out, _ = following.communicate(timeout=20)
        self.assertEqual((following.returncode, out), (0, "w-1 | end\n"))
        asked = [r["query"] for r in self.daemon.sent("GET", "/v1/jobs/job-1/events")]
        self.assertTrue(any("after=82" in query for query in asked), asked)

    def test_followed_logs_go_on_after_an_agent_was_away(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        answers = [(503, {"title": "Not available now", "detail": "the agent of n1 is away"}),
                   (200, "one\n", {"Tidepool-Next-Offset": "4", "Tidepool-Log-End": "true"})]
        self.daemon.routes["GET", "/v1/jobs/job-1/logs"] = lambda _: answers.pop(0)
        self.assertEqual(self.run_ctl("logs", "job-1", "-f", "--worker", "w-1"), (0, "one\n", ""))
        answers = [(503, {"title": "Not available now", "detail": "the agent of n1 is away"})]
        code, _, err = self.run_ctl("logs", "job-1", "--worker", "w-1")
        self.assertEqual(code, 3)
        self.assertIn("n1 is away", err)

    def test_a_worker_whose_node_is_away_does_not_keep_the_others_output_back(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (200, listed(
            [event(1, "worker.started", worker="w-1"), event(2, "worker.started", worker="w-2")]))
        away = (503, {"title": "Not available now", "detail": "the worker's node (node-7) is not connected"})
        here = (200, "two\n", {"Tidepool-Next-Offset": "4", "Tidepool-Log-End": "true"})
        self.daemon.routes["GET", "/v1/jobs/job-1/logs"] = lambda request: away if "w-1" in request["query"] else here
        code, out, err = self.run_ctl("logs", "job-1")
        self.assertEqual((code, out), (0, "w-2 | two\n"))
        self.assertIn("no output of w-1", err)
        self.assertIn("node-7", err)
        self.daemon.routes["GET", "/v1/jobs/job-1/logs"] = away
        code, _, err = self.run_ctl("logs", "job-1")
        self.assertEqual(code, 3)
        self.assertIn("none of its workers", err)

    def test_tail_prints_the_newest_lines_of_each_worker(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        text = "".join(f"line {i}\n" for i in range(20))

        def logs(request):
            offset = int(dict(part.split("=") for part in request["query"].split("&"))["offset"])
            body = text if offset < 0 else text[offset:]
            return (200, body, {"Tidepool-Next-Offset": str(len(text)), "Tidepool-Log-End": "true"})
        self.daemon.routes["GET", "/v1/jobs/job-1/logs"] = logs
        for lines, expected in (("2", "line 18\nline 19\n"), ("0", ""), ("500", text)):
            self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1", "--tail", lines), (0, expected, ""))

    def test_logs_of_a_job_that_never_ran_answer_no(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (200, listed([]))
        code, _, err = self.run_ctl("logs", "job-1")
        self.assertEqual(code, 1)
        self.assertIn("has no workers with output yet", err)


if __name__ == "__main__":
    unittest.main()
