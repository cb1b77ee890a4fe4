"""schedctl logs: which workers it reads, how far back and how far on, and when it ends."""

import json
import os
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.environ["TIDEPOOL_SOURCE_DIR"])

from tests.support.schedctl_case import SCHEDCTL, SchedctlCase, event, example, listed  # noqa: E402

PAGE = 65_536
AWAY = (503, {"title": "Not available now", "detail": "the worker's node (node-7) is not connected"})


def page(text, following, end=False, offset=None):
    headers = {"Tidepool-Next-Offset": str(following), "Tidepool-Log-End": "true" if end else "false"}
    return (200, text, headers if offset is None else {**headers, "Tidepool-Offset": str(offset)})


def query_of(request):
    return dict(part.split("=") for part in request["query"].split("&"))


class LogsTest(SchedctlCase):
    def setUp(self):
        super().setUp()
        self.job(state="running")
        self.workers(started=["w-1"])

    def job(self, state):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, {**example("job.json"), "state": state})

    def workers(self, started, alive=()):
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (200, listed(
            [event(n + 1, "worker.started", worker=worker) for n, worker in enumerate(started)]))
        self.daemon.routes["GET", "/v1/jobs/job-1/workers"] = (200, listed(
            [{**example("worker.json"), "id": worker} for worker in alive]))

    def logs(self, answer):
        self.daemon.routes["GET", "/v1/jobs/job-1/logs"] = lambda request: answer(query_of(request))

    def as_the_agent_reads(self, log, kept_from=0):
        """Pages of a log of which what lies before `kept_from` is gone."""

        def answer(query):
            offset, limit = int(query["offset"]), int(query.get("limit", PAGE))
            begin = min(max(len(log) + offset if offset < 0 else offset, kept_from), len(log))
            data = log[begin:begin + limit]
            while begin + len(data) < len(log) and data and (log[begin + len(data)] & 0xC0) == 0x80:
                data = data[:-1]  # no character is cut at the end of a page
            return page(data.decode(errors="replace"), begin + len(data), begin + len(data) == len(log), begin)
        self.logs(answer)

    def test_tail_reads_as_many_pages_back_as_its_lines_take(self):
        lines = [f"line {n} of é€𝄞 {'x' * (n % 190)}\n" for n in range(3_000)]
        log = "".join(lines).encode()
        self.assertGreater(len(log), 4 * PAGE)
        self.as_the_agent_reads(log)
        for count in (1, 700, 2_500, 3_000, 9_999):
            code, out, err = self.run_ctl("logs", "job-1", "--worker", "w-1", "--tail", str(count))
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(out, "".join(lines[-count:]), count)

    def test_tail_of_one_line_longer_than_a_page_begins_at_its_beginning(self):
        self.as_the_agent_reads(b"one\n" + b"x" * 3 * PAGE + b"\n")
        out = self.run_ctl("logs", "job-1", "--worker", "w-1", "--tail", "1")[1]
        self.assertEqual(out, "x" * 3 * PAGE + "\n")

    def test_tail_goes_back_no_further_than_what_is_kept(self):
        log = b"".join(b"line %d\n" % n for n in range(20_000))
        kept_from = log.index(b"line 5000\n")
        self.as_the_agent_reads(log, kept_from)
        _, out, err = self.run_ctl("logs", "job-1", "--worker", "w-1", "--tail", "10000")
        self.assertEqual((out, err), ("".join(f"line {n}\n" for n in range(10_000, 20_000)), ""))
        self.as_the_agent_reads(log, log.index(b"line 15000\n"))
        out = self.run_ctl("logs", "job-1", "--worker", "w-1", "--tail", "10000")[1]
        self.assertEqual(out, "".join(f"line {n}\n" for n in range(15_000, 20_000)))

    def test_output_that_was_dropped_is_told_beside_what_is_left(self):
        self.as_the_agent_reads(b"x" * 3_145_728 + b"one\ntwo\n", 3_145_728)
        told = "schedctl: older output of w-1 was dropped (3MiB)\n"
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1"), (0, "one\ntwo\n", told))
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1", "--tail", "5"), (0, "one\ntwo\n", told))
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1", "--tail", "1"), (0, "two\n", ""))
        code, out, err = self.run_ctl("logs", "job-1", "--worker", "w-1", "-o", "json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out), {"worker": "w-1", "data": "one\ntwo\n", "dropped_bytes": 3_145_728})

    def test_a_line_whose_rest_was_dropped_is_not_joined_to_what_comes(self):
        pages = {0: page("x" * (PAGE - 4) + "\nbeg", PAGE),
                 PAGE: page("rest\n", 3 * PAGE + 5, end=True, offset=3 * PAGE),
                 -4: page("est\n", 3 * PAGE + 5)}  # the end, asked for behind a full page
        self.logs(lambda query: pages[int(query["offset"])])
        code, out, err = self.run_ctl("logs", "job-1", "--worker", "w-1")
        self.assertEqual((code, out.splitlines()[1:]), (0, ["beg", "rest"]))
        self.assertEqual(err, "schedctl: older output of w-1 was dropped (131072 bytes)\n")

    def test_a_worker_that_prints_faster_than_it_is_read_is_read_up_to_what_it_had_printed(self):
        asked = []

        def answer(query):
            asked.append(int(query["offset"]))
            size = 10 * PAGE * len(asked)
            if asked[-1] < 0:
                return page("xx\n\n", size)
            return page("x" * (PAGE - 1) + "\n", asked[-1] + PAGE, end=len(asked) > 100)

        self.logs(answer)
        code, out, err = self.run_ctl("logs", "job-1", "--worker", "w-1")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(out), 20 * PAGE, "as it was when the second question was answered")

    def test_a_line_is_printed_as_a_terminal_shows_it_and_a_progress_bar_with_its_present_state(self):
        self.logs(lambda query: page("one\r\n 1%\r 2%\nbar 1%\rbar 2%\r", 24))
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1"), (0, "one\n 2%\nbar 2%\n", ""))
        self.logs(lambda query: page("epoch 1: ", 9))
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1"), (0, "epoch 1: \n", ""))

    def test_of_a_progress_bar_that_is_followed_a_state_is_printed_now_and_then(self):
        looks = []

        def answer(query):
            looks.append(query["offset"])
            if len(looks) > 13:
                return page("\rbar 99%\n", int(query["offset"]) + 9, end=True)
            return page(f"\rbar {len(looks)}%", int(query["offset"]) + 7)

        self.job(state="succeeded")
        self.logs(answer)
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1", "-f"), (0, "bar 10%\nbar 99%\n", ""))

    def test_a_worker_that_prints_all_the_time_is_read_up_to_now(self):
        self.logs(lambda query: page("more\n", int(query["offset"]) + 5))
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1"), (0, "more\n", ""))

    def test_a_worker_that_has_printed_nothing_is_told_beside_the_output(self):
        self.logs(lambda query: page("", 0, end=True))
        self.assertEqual(self.run_ctl("logs", "job-1"), (0, "", "schedctl: no output of job-1 so far\n"))
        self.assertEqual(self.run_ctl("logs", "job-1", "--tail", "0"), (0, "", ""))
        self.job(state="failed")
        self.assertEqual(self.run_ctl("logs", "job-1"), (0, "", "schedctl: no output of job-1 is kept\n"))
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1"),
                         (0, "", "schedctl: no output of w-1 is kept\n"))

    def test_a_page_that_lacks_half_a_character_is_not_the_last(self):
        pages = {0: page("x" * (PAGE - 4) + "\n", PAGE - 3), PAGE - 3: page("𝄞\n", PAGE + 2),
                 -4: page("\n", PAGE + 2)}  # the end, asked for behind a full page
        self.logs(lambda query: pages[int(query["offset"])])
        code, out, err = self.run_ctl("logs", "job-1", "--worker", "w-1")
        self.assertEqual((code, out.splitlines()[1:], err), (0, ["𝄞"], ""))

    def test_a_line_that_is_not_finished_is_printed_where_nothing_is_followed(self):
        self.logs(lambda query: page("one\nwaiting for peers ...", 25))
        self.assertEqual(self.run_ctl("logs", "job-1"), (0, "w-1 | one\nw-1 | waiting for peers ...\n", ""))
        pages = {0: page("one\nwai", 7), 7: page("ting\n", 12, end=True)}
        self.logs(lambda query: pages[int(query["offset"])])
        self.assertEqual(self.run_ctl("logs", "job-1", "-f", "--worker", "w-1"), (0, "one\nwaiting\n", ""))

    def test_a_followed_line_that_is_not_finished_is_printed_once_it_rests(self):
        pages = {0: page("one\nwaiting for peers ...", 25), 25: page("", 25)}
        self.logs(lambda query: pages[int(query["offset"])])
        following = subprocess.Popen([SCHEDCTL, "logs", "job-1", "-f", "--worker", "w-1"], stdout=subprocess.PIPE,
                                     text=True, cwd=self.folder, env=self.environment())
        self.addCleanup(following.kill)
        self.assertEqual(following.stdout.readline(), "one\n")
        late = threading.Timer(20, lambda: pages.update({25: page("", 25, end=True)}))
        late.start()
        self.addCleanup(late.cancel)
        self.assertEqual(following.stdout.readline(), "waiting for peers ...\n")
        self.assertTrue(late.is_alive(), "it was printed before the worker's end")
        pages[25] = page(" found\n", 32, end=True)
        out, _ = following.communicate(timeout=20)
        self.assertEqual((following.returncode, out), (0, " found\n"))

    def test_a_progress_bar_is_shown_as_a_terminal_would_leave_it(self):
        bar = b"".join(b"\rstep %d" % n for n in range(20_000))
        self.assertGreater(len(bar), 3 * PAGE)
        self.as_the_agent_reads(b"one\r\n" + bar + b"\r\ntwo\n" + bar + b"\r")
        self.assertEqual(self.run_ctl("logs", "job-1", "--worker", "w-1"),
                         (0, "one\nstep 19999\ntwo\nstep 19999\n", ""))
        as_json = self.run_ctl("logs", "job-1", "-o", "json")[1]
        self.assertEqual(sum(json.loads(line)["data"].count("\r") for line in as_json.splitlines()), 40_003)

    def test_workers_whose_start_is_in_no_event_any_more_are_read_too(self):
        self.workers(started=["w-10"], alive=["w-10", "w-9"])
        self.logs(lambda query: page("mine\n", 5, end=True))
        self.assertEqual(self.run_ctl("logs", "job-1"), (0, "w-9 | mine\nw-10 | mine\n", ""))

    def test_followed_logs_of_an_ended_job_end_though_a_node_is_gone(self):
        self.job(state="succeeded")
        self.workers(started=["w-1", "w-2"])
        self.logs(lambda query: AWAY if query["worker"] == "w-1" else page("two\n", 4, end=True))
        code, out, err = self.run_ctl("logs", "job-1", "-f")  # after the 30 s for which a node may be away
        self.assertEqual((code, out), (0, "w-2 | two\n"))
        self.assertEqual(err.count("no output of w-1"), 1)


if __name__ == "__main__":
    unittest.main()
