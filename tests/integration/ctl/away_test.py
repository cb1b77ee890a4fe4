"""What schedctl follows goes on over a daemon that is away for a moment, and ends if it stays away."""

import os
import sys
import threading
import unittest

sys.path.insert(0, os.environ["TIDEPOOL_SOURCE_DIR"])

from tests.support.schedctl_case import SchedctlCase, event, example, listed, sse  # noqa: E402

AWAY = (503, {"title": "Not available now", "detail": "the daemon is starting"})
FINISHED = event(82, "job.finished", state="succeeded", steps=400, loss=1.5)


class AwayTest(SchedctlCase):
    def setUp(self):
        super().setUp()
        self.running = (200, {**example("job.json"), "state": "running"})
        self.ended = (200, {**example("job.json"), "state": "succeeded", "size": 0})
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (200, listed([]))
        self.daemon.routes["GET", "/v1/events"] = (200, listed([]))

    def one_after_another(self, path, *answers):
        left = list(answers)
        self.daemon.routes["GET", path] = lambda _: left.pop(0) if len(left) > 1 else left[0]

    def test_watch_ends_well_though_the_daemon_was_away_when_it_looked(self):
        self.one_after_another("/v1/jobs/job-1", self.running, AWAY, AWAY, self.ended)
        self.one_after_another("/v1/jobs/job-1/metrics", AWAY, (200, example("job_metrics.json")))
        later = threading.Event()  # a second after the first look watch looks again at the next event
        timer = threading.Timer(1.5, later.set)
        timer.start()
        self.addCleanup(timer.cancel)
        self.daemon.routes["GET", "/v1/events/stream"] = (200, [": hello\n\n", later, sse(example("event.json")),
                                                                sse(FINISHED)])
        code, out, err = self.run_ctl("watch", "job-1", "--summary")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("succeeded after 400 steps", out)
        self.assertEqual(len(self.daemon.sent("GET", "/v1/jobs/job-1")), 4)

    def test_watch_asks_again_for_a_stream_that_did_not_come_about(self):
        self.one_after_another("/v1/jobs/job-1", self.running, self.ended)
        asked = []

        def stream(_):
            asked.append(1)
            if len(asked) == 1:
                raise ConnectionResetError("the daemon is gone before it answers")
            return (200, [sse(FINISHED)])
        self.daemon.server.handle_error = lambda *_: None  # that one is meant
        self.daemon.routes["GET", "/v1/events/stream"] = stream
        code, _, err = self.run_ctl("watch", "job-1")
        self.assertEqual((code, err, len(asked)), (0, "", 2))

    def test_watch_asks_again_for_a_stream_while_its_token_has_too_many(self):
        self.one_after_another("/v1/jobs/job-1", self.running, self.ended)
        full = (429, {"title": "A limit is reached", "code": "TooManyStreams", "detail": "this token has 16 open"})
        self.one_after_another("/v1/events/stream", full, (200, [sse(FINISHED)]))
        code, _, err = self.run_ctl("watch", "job-1")
        self.assertEqual((code, err, len(self.daemon.sent("GET", "/v1/events/stream"))), (0, "", 2))

    def test_a_daemon_that_only_says_that_it_is_away_is_not_waited_for_without_end(self):
        self.daemon.routes["GET", "/v1/events/stream"] = AWAY
        code, out, err = self.run_ctl("events", "-f")  # for 30 s
        self.assertEqual((code, out), (3, ""))
        self.assertIn("the daemon is starting", err)


if __name__ == "__main__":
    unittest.main()
