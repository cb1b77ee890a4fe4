"""schedctl's help as people see it in a terminal, its advice, and what it makes of a daemon's answers as traces."""

import copy
import csv
import io
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.environ["TIDEPOOL_SOURCE_DIR"])

from tests.support.schedctl_case import SchedctlCase, event, example, listed  # noqa: E402


class HelpAndTraceTest(SchedctlCase):
    def help_pages(self, *words, **extra):
        """Of the command that the words name, and of all commands below it."""
        code, out, err = self.run_ctl(*words, "--help", **extra)
        self.assertEqual((code, err), (0, ""), words)
        yield words, out
        _, _, below = out.partition("\nSubcommands:\n")
        for line in below.splitlines():
            if line.startswith("  ") and line[2:3].strip():
                yield from self.help_pages(*words, line.split()[0], **extra)

    def test_help_of_every_command_fits_the_terminal(self):
        for columns in (80, 100):
            pages = dict(self.help_pages(COLUMNS=str(columns)))
            self.assertLessEqual({("submit",), ("trace", "import"), ("sim", "run"), ("policy", "diff")}, set(pages))
            for words, text in pages.items():
                self.assertEqual([line for line in text.splitlines() if len(line) > columns], [], words)
                self.assertNotIn("{false}", text)

    def test_help_says_all_of_what_an_option_means(self):
        page = dict(self.help_pages())[("ls",)]
        self.assertIn("--state TEXT:{pending, starting, running, resizing, suspending, suspended,", page)
        self.assertIn("succeeded, failed, cancelled}", page)
        self.assertEqual(" ".join(dict(self.help_pages())[()].split()).count("exit 0 only if it succeeds"), 1)

    def test_help_says_how_commands_end_and_where_options_of_all_of_them_stand(self):
        shown = " ".join(self.run_ctl("--help")[1].split())
        self.assertIn("Exit codes: 0 done; 1 the answer is no", shown)
        self.assertIn("3 the daemon refuses, as where it knows no such job; ", shown)
        self.assertIn("; 5 no daemon answers; 6 schedctl itself fails, as where its output cannot be written; "
                      "130 Ctrl-C", shown)
        for words in (("ls",), ("node", "token", "create")):
            self.assertIn("such as -o json and --url: schedctl --help", self.run_ctl(*words, "--help")[1])
        self.assertIn("the folder to make", self.run_ctl("policy", "new", "--help")[1])
        self.assertRegex(self.run_ctl("trace", "import", "--help")[1], r"--from TEXT REQUIRED")
        self.assertRegex(self.run_ctl("trace", "stats", "--help")[1], r"--from TEXT=tidepool")

    def test_without_nodes_the_list_tells_what_the_pools_do_or_how_to_have_some(self):
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed([]))
        self.daemon.routes["GET", "/v1/pools"] = (200, listed([{**example("pool.json"), "nodes": [], "problem": None}]))
        code, out, err = self.run_ctl("nodes")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("the pool gpu: no node is requested", out)
        self.assertNotIn("--local-slots", out)
        self.daemon.routes["GET", "/v1/pools"] = (403, {"title": "Not allowed"})  # to a token of one tenant
        self.assertIn("--local-slots", self.run_ctl("nodes")[1])
        self.assertEqual(json.loads(self.run_ctl("nodes", "-o", "json")[1]), [])

    def test_help_of_usage_says_of_which_days_it_is(self):
        page = " ".join(dict(self.help_pages("usage"))[("usage",)].split())
        self.assertIn("Of this month, unless --window or --from says otherwise", page)
        self.assertIn("by tenant since it was set up", page)

    def test_help_is_a_command_and_the_version_an_option(self):
        for words in ((), ("submit",), ("node", "label"), ("policy", "diff")):
            self.assertEqual(self.run_ctl("help", *words), self.run_ctl(*words, "--help"), words)
        page = " ".join(self.run_ctl("help", "help")[1].split())
        [named] = re.findall(r"the command, such as: ([a-z ]+);", page)
        self.assertEqual(self.run_ctl("help", *named.split()), self.run_ctl(*named.split(), "--help"))
        code, out, err = self.run_ctl("help", "sumbit")
        self.assertEqual((code, out), (2, ""))
        self.assertIn('"sumbit" is not a command; did you mean "submit"?', err)
        for words, told in ((("maintenance", "lst"), 'did you mean "ls"? schedctl maintenance has: add, ls, remove'),
                            (("token", "show"), '"show" is not a command of schedctl token, which has: ls, create, '),
                            (("node", "token", "crate"), 'did you mean "create"? schedctl node token has: create, '),
                            (("tenants", "aply", "x"), '"aply" is not a command; did you mean "apply"?')):
            code, out, err = self.run_ctl(*words)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(told, err)
        code, out, err = self.run_ctl("--version")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^schedctl \d+\.\d+\.\d+\n$")

    # --- a job's timeline ---

    def test_a_timeline_is_made_of_the_job_its_events_and_its_measurements(self):
        self.daemon.routes["GET", "/v1/jobs/job-1"] = (200, example("job.json"))
        self.daemon.routes["GET", "/v1/jobs/job-1/metrics"] = (200, example("job_metrics.json"))
        pages = {"": listed([event(3, "job.submitted", min=1, max=2, preferred=1)], "more"),
                 "more": listed([event(9, "generation.switched", generation=1, kind="start", from_size=0, to_size=1,
                                       stall_ms=0, build_ms=1.5)])}
        self.daemon.routes["GET", "/v1/jobs/job-1/events"] = (
            lambda request: (200, pages["more" if "cursor=more" in request["query"] else ""]))
        code, out, err = self.run_ctl("trace", "job-1")
        self.assertEqual((code, err, out.count("\n")), (0, "", 1))
        trace = json.loads(out)["traceEvents"]
        named = {one["name"] for one in trace}
        self.assertLessEqual({"waiting", "training", "start to generation 1", "generation 1: 1 worker"}, named)
        [asked] = self.daemon.sent("GET", "/v1/jobs/job-1/metrics")
        self.assertEqual(asked["query"], "limit=1000")
        self.assertEqual(sum(one["ph"] == "C" and one["name"] == "step" for one in trace), 2)

    def test_the_history_is_exported_as_jobs_that_ran_and_ended(self):
        def detail(number, **changes):
            job = {**copy.deepcopy(example("job.json")), "id": f"job-{number}", "name": f"n{number}", **changes}
            types = ["v100", "a100"] if number == 1 else ["any"]
            job["spec"] |= {"elastic": {"preferred": 2}, "work": {"samples": 9, "deadline": "2h"},
                            "resources": {"gpus_per_worker": 2, "gpu": {"type": types}}}
            self.daemon.routes["GET", f"/v1/jobs/job-{number}"] = (200, job)
            return {"id": job["id"], "name": job["name"]}

        paid = {**example("job.json")["cost"], "slot_seconds": 360.0}
        jobs = [detail(1, state="succeeded", cost=paid), detail(2, state="running", cost=paid),
                detail(3, state="failed", cost={**paid, "slot_seconds": 0}), detail(4, state="cancelled", cost=paid)]
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed(jobs))
        code, out, err = self.run_ctl("trace", "export")
        self.assertEqual((code, err), (0, "2 jobs left out: not ended, or never ran\n"))
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([(row["name"], row["status"], row["application"]) for row in rows],
                         [("job-1", "succeeded", "n1"), ("job-4", "cancelled", "n4")])
        for row in rows:
            self.assertEqual((row["gpus"], row["duration_s"], row["submit_s"]), ("4", "90", "0"))
            self.assertEqual(row["deadline_s"], "7200")
        self.assertEqual([row["gpu_type"] for row in rows], ["v100|a100", ""])

    def test_a_history_of_nothing_is_said_and_writes_no_file(self):
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([]))
        code, out, err = self.run_ctl("trace", "export", "-o", "history.csv")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no job of this daemon has run and ended yet", err)
        self.assertFalse((self.folder / "history.csv").exists())


if __name__ == "__main__":
    unittest.main()
