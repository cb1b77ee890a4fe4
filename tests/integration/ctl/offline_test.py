#!/usr/bin/env python3
"""schedctl without a daemon, through the real program: trace import and stats, sim compare with its files, sim ls."""
import contextlib
import csv
import gzip
import json
import os
import pathlib
import pty
import signal
import subprocess
import tempfile
import unittest

SCHEDCTL = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"]) / "schedctl"
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
DATA = pathlib.Path(os.environ.get("TIDEPOOL_DATA", SOURCE / "../shared/data"))

HELIOS = """job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1,ua,vcA,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 19:41:01,3600,0
2,ub,vcA,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0
3,ub,vcB,0,16,1,COMPLETED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0
4,ub,vcB,8,16,1,CANCELLED,2020-06-09 18:42:27,2020-06-09 18:42:27,2020-06-09 18:45:36,189,0
"""


def call(*words):
    return subprocess.run([SCHEDCTL, *map(str, words)], capture_output=True, text=True, timeout=150,
                          env={**os.environ, "COLUMNS": "80"})


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class Offline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tp-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "trace.csv"

    def import_helios(self):
        packed = self.folder / "log.csv.gz"
        packed.write_bytes(gzip.compress(HELIOS.encode()))
        return call("trace", "import", "--from", "helios", packed, "-o", self.trace)

    def test_a_packed_trace_is_imported_and_importing_the_result_changes_nothing(self):
        done = self.import_helios()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 line left out, because each asks for no GPU", done.stderr)
        rows = rows_of(self.trace)
        self.assertEqual([row["gpus"] for row in rows], ["1", "4", "8"])
        self.assertEqual([row["submit_s"] for row in rows], ["0", "26", "86"])
        self.assertEqual([row["status"] for row in rows], ["succeeded", "failed", "cancelled"])
        again = call("trace", "import", "--from", "tidepool", self.trace)
        self.assertEqual(again.stdout, self.trace.read_text())

    def test_an_output_that_cannot_be_written_is_no_refusal_of_a_daemon(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([SCHEDCTL, "completion", "bash"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
        self.assertEqual((done.returncode, done.stderr), (6, "schedctl: standard output cannot be written\n"))

    def test_stats_tell_what_is_in_it(self):
        self.import_helios()
        stats = json.loads(call("trace", "stats", self.trace, "-o", "json").stdout)
        self.assertEqual((stats["jobs"], stats["tenants"], stats["gpus_max"]), (3, 2, 8))
        text = call("trace", "stats", self.trace).stdout
        self.assertIn("DURATION", text)
        self.assertIn("1 to 8 a job", text)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.trace.write_text("submit_s,gpus,duration_s\n0,2,3600\n")
        text = call("trace", "stats", self.trace).stdout
        self.assertIn("GPUs        2 a job,", text)
        self.assertIn("GPU-hours   2.0\n", text)

    def test_stats_of_a_foreign_file_ask_for_its_form(self):
        self.trace.write_text(HELIOS)
        done = call("trace", "stats", self.trace)
        self.assertEqual(done.returncode, 2)
        self.assertIn("say which with --from: elasticflow, gavel, helios", done.stderr)
        asked = call("trace", "stats", "--from", "sacct", self.trace)
        self.assertIn("--from sacct reads: Slurm: sacct -a -X -P -o JobID,Submit", asked.stderr)
        run = call("sim", "run", "--workload", self.trace)
        self.assertIn("what another scheduler wrote becomes one by: schedctl trace import", run.stderr)

    def test_a_trace_may_come_through_a_pipe(self):
        done = subprocess.run([SCHEDCTL, "trace", "import", "--from", "helios", "-"], input=HELIOS, capture_output=True,
                              text=True, timeout=150)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("standard input: 1 line left out", done.stderr)
        self.assertEqual(done.stdout.count("\n"), 4)

    def test_bad_lines_are_errors_unless_they_are_to_be_skipped(self):
        self.trace.write_text("submit_s,gpus,duration_s\n0,1,10\n1,none,10\n")
        refused = call("trace", "stats", self.trace)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("trace.csv line 3: gpus is \"none\"", refused.stderr)
        skipped = call("trace", "stats", "--skip-bad", self.trace)
        self.assertEqual(skipped.returncode, 0)
        self.assertIn("1 bad line skipped", skipped.stderr)

    def test_a_trace_is_compared_under_policies_and_seeds_into_all_files(self):
        self.import_helios()
        files = {name: self.folder / name for name in ("runs.csv", "jobs.csv", "report.html")}
        done = call("sim", "compare", "--policies", "fifo,autoscaling_engine", "--workloads", f"{self.trace},generated",
                    "--jobs", 12, "--seeds", "1..2", "--cluster", "4x8", "--csv", files["runs.csv"], "--per-job",
                    files["jobs.csv"], "--html", files["report.html"])
        if "built without the web parts" in done.stderr:
            self.skipTest("built without the dashboard")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("8 of 8", done.stderr)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout)
        runs = rows_of(files["runs.csv"])
        self.assertEqual(len(runs), 8)
        self.assertEqual({run["seed"] for run in runs}, {"1", "2"})
        self.assertEqual(len(rows_of(files["jobs.csv"])), 2 * 2 * (3 + 12))
        html = files["report.html"].read_text()
        self.assertNotIn("http://", html.replace("http://www.w3.org", ""))
        self.assertIn("schedctl sim compare --policies fifo,autoscaling_engine", html)

    def test_a_comparison_on_nodes_of_a_pool_alone_tells_of_no_cluster_beside_them(self):
        done = call("sim", "compare", "--policies", "fifo", "--jobs", 2, "--pool", "slots=4,max=2")
        self.assertIn("2 jobs on pool:0..2x4, simulator: live, 1 seed, times in ", done.stdout)

    def test_a_small_pool_has_each_size_once_and_the_fixed_nodes_beside_it_are_told(self):
        rows = self.folder / "rows.csv"
        done = call("sim", "frontier", "--jobs", 2, "--cluster", "1x4", "--pool", "slots=4,max=2", "--wait", "0s",
                    "--idle", "60s", "--worth", 2, "--csv", rows)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["setting"] for row in rows_of(rows) if row["rule"] == "fixed"], ["1 node", "2 nodes"])
        self.assertIn("2 jobs, 1x4 and slots=4,max=2", done.stdout)

    def test_a_share_of_spot_nodes_is_refused_where_there_are_no_others(self):
        spot = ("sim", "run", "--jobs", 2, "--pool", "name=spot,slots=4,max=4,spot")
        done = call(*spot, "--spot-share", 0.5)
        self.assertEqual(done.returncode, 2)
        self.assertIn("give a --pool that is not spot, too", done.stderr)
        self.assertEqual(call(*spot).returncode, 0)
        self.assertEqual(call(*spot, "--pool", "slots=4,max=4", "--spot-share", 0.5).returncode, 0)

    def test_threads_change_nothing_but_the_time(self):
        words = ["sim", "compare", "--policies", "fifo,fixed", "--seeds", "1..3", "--jobs", 10, "-o", "json"]
        digests = []
        for threads in (1, 4):
            done = call(*words, "--threads", threads)
            self.assertEqual(done.returncode, 0, done.stderr)
            digests.append([run["digest"] for run in json.loads(done.stdout)["runs"]])
        self.assertEqual(digests[0], digests[1])
        self.assertEqual(len(set(digests[0])), 6)

    def test_wrong_words_are_answered_before_anything_runs(self):
        for words, answer in (
            (("--policies", "fifo,nosuch"), "nosuch"),
            (("--policies", "fifo,fifo"), "--policies"),
            (("--policies", "fifo", "--seeds", "5..1"), "--seeds"),
            (("--policies", "fifo", "--workloads", "nofile.csv"), "nofile.csv"),
            (("--policies", "fifo", "--cluster", "4x8:a,2x4"), "slot type"),
            (("--policies", "fifo,optimus"), "only replays know"),
            (("--policies", "fifo", "--csv", self.folder / "nowhere" / "runs.csv"), "cannot be written"),
            (("--policies", "fifo", "--node-crash-every", "1us"), "at least 1s"),
        ):
            done = call("sim", "compare", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(answer, done.stderr)
            self.assertNotIn("average", done.stderr)  # the line of a run that has ended

    def test_a_file_is_not_written_over_what_the_run_reads_or_writes(self):
        self.import_helios()
        before = self.trace.read_text()
        again = self.folder / "." / "trace.csv"
        out = self.folder / "out"
        for words, answer in (
            (("run", "--per-job", again), "is read by this command"),
            (("run", "--per-job", out, "--decisions", out), "would be written twice"),
            (("compare", "--policies", "fifo", "--csv", out, "--per-job", out), "would be written twice"),
            (("compare", "--policies", "fifo", "--csv", self.trace), "is read by this command"),
        ):
            option = "--workload" if words[0] == "run" else "--workloads"
            done = call("sim", *words, option, self.trace, "--cluster", "1x8")
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(answer, done.stderr)
        self.assertEqual(self.trace.read_text(), before)
        self.assertFalse(out.exists())
        twice = call("sim", "run", "--workload", self.trace, "--cluster", "1x8", "--per-job", "/dev/null",
                     "--decisions", "/dev/null")
        self.assertEqual(twice.returncode, 0, twice.stderr)

    def test_a_wrong_run_is_answered_with_what_to_write(self):
        for words, answer in (
            (("--seed", "-1"), "whole number"),
            (("--simulator", "pollux"), "--workload FILE.csv"),  # and no word of a policy that was not named
            (("--nosuch",), "see: schedctl sim run --help"),
            (("--per-job", self.folder), "is a folder"),
            (("--cluster", "1x4:a", "--type-speed", "a=1,a=2"), "the type a is given twice"),
        ):
            done = call("sim", "run", "--jobs", 2, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(answer, done.stderr)

    def test_ls_names_rules_policies_and_sources(self):
        catalogue = json.loads(call("sim", "ls", "-o", "json").stdout)
        simulators = [row["name"] for row in catalogue["simulators"]]
        self.assertEqual(simulators, ["elasticflow", "gavel", "live", "pollux", "rigid"])
        policies = [row["name"] for row in catalogue["policies"]]
        self.assertEqual(len(policies), len(set(policies)), "each policy is one row")
        self.assertIn({"name": "fifo", "simulator": "live, replays"},
                      [{key: row[key] for key in ("name", "simulator")} for row in catalogue["policies"]])
        self.assertIn({"live, replays"}, [{row["simulator"]} for row in catalogue["policies"]])
        shown = call("sim", "ls").stdout
        self.assertTrue(shown.startswith("SIMULATOR"), shown)
        self.assertTrue(all(len(line) <= 80 for line in shown.splitlines()), shown)
        self.assertNotIn("…", shown)

    def test_the_simulator_goes_by_its_old_option_too_and_help_shows_the_new_one(self):
        words = ["sim", "run", "--jobs", 2]
        new = call(*words, "--simulator", "live")
        old = call(*words, "--semantics", "live")
        self.assertEqual((new.returncode, old.returncode, old.stderr), (0, 0, ""))
        self.assertEqual(json.loads(new.stdout)["digest"], json.loads(old.stdout)["digest"])
        shown = call("sim", "run", "--help").stdout
        self.assertIn("--simulator", shown)
        self.assertNotIn("--semantics", shown)

    def test_a_run_that_is_cut_off_says_how_many_jobs_were_left(self):
        words = ["sim", "run", "--jobs", 20]
        asked = call(*words, "--until", "10m")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertRegex(asked.stderr, r"cut off 10 minutes after the first submission with \d+ of 20 jobs left")
        self.assertLess(json.loads(asked.stdout)["completed"], 20)
        self.assertEqual(call(*words, "--until", "0s").returncode, 2)

    def test_each_field_of_a_run_is_documented(self):
        page = (SOURCE / "docs/fidelity.md").read_text()
        run = call("sim", "run", "--jobs", 2, "--pool", "slots=4,max=4")
        self.assertEqual([field for field in json.loads(run.stdout) if f"`{field}`" not in page], [])

    def test_a_run_says_on_a_terminal_how_far_it_is_and_leaves_nothing_of_it(self):
        words = [SCHEDCTL, "sim", "run", "--jobs", "5"]
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        run = subprocess.run(words, stdout=subprocess.PIPE, stderr=its, text=True, timeout=150)
        os.close(its)
        shown = ""
        with contextlib.suppress(OSError):  # Linux: all was read, and the other end is closed
            while piece := os.read(ours, 4096):
                shown += piece.decode()
        self.assertEqual(run.returncode, 0, shown)
        self.assertRegex(shown, "^\r\x1b\\[K\x1b\\[\\?7l0 of 5 jobs ended after .* of simulated time, ")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)
        self.assertEqual(json.loads(run.stdout)["completed"], 5)
        piped = subprocess.run(words, capture_output=True, text=True, timeout=150)
        self.assertEqual(piped.stderr, "")

    def test_a_run_without_a_completed_job_is_a_failure(self):
        table = self.folder / "speeds.json"
        table.write_text(json.dumps({"fast": {"('A', 2)": {"null": 1.0}}}))
        jobs = self.folder / "jobs.trace"
        jobs.write_text("A\tc\tf\t-s\t1\t10\t2\t1\t-1\t0\n")
        done = call("sim", "run", "--simulator", "gavel", "--profiles", table, "--workload", jobs, "--cluster",
                    "1x1:fast", "--policy", "fifo")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(json.loads(done.stdout)["completed"], 0)
        self.assertIn("90 days after the first submission with 1 of 1 job left, 1 of which never ran", done.stderr)
        self.assertIn("schedctl: no job completed under fifo", done.stderr)

    def test_an_option_that_has_no_part_in_a_run_is_refused(self):
        for words, answer in (
            (("--simulator", "pollux", "--spot-reclaim-every", "1h"), "--spot-reclaim-every does nothing under"),
            (("--simulator", "gavel", "--elastic-max", "8"), "choose rules that know it: live"),
            (("--round", "60s"), "choose rules that know it: elasticflow, gavel, pollux"),
            (("--simulator", "elasticflow", "--restart-penalty", "1s"), "live, pollux"),
            (("--curve", "0.1,0.01"), "give --elastic-max"),
            (("--elastic-max", "8"), "those of generated have sizes of their own"),
            (("--as-packed",), "--as-packed does nothing by itself; give --profiles"),
            (("--spot-notice", "1m"), "--spot-notice does nothing by itself; give --spot-reclaim-every"),
            (("--node-outage", "1m"), "give one of --node-crash-every, --node-cut-off-every, --spot-reclaim-every"),
            (("--workload", self.trace, "--jobs", 3), "has jobs of its own"),
            (("--simulator", "nosuch", "--round", "60s"), "there is no simulator called"),
        ):
            done = call("sim", "run", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(answer, done.stderr)

    def test_files_of_one_name_are_told_apart_by_their_folders(self):
        files = [self.folder / load / "jobs.csv" for load in ("low", "high")]
        for number, file in enumerate(files):
            file.parent.mkdir()
            file.write_text("submit_s,gpus,duration_s\n" + "0,1,10\n" * (number + 1))
        done = call("sim", "compare", "--policies", "fifo", "--workloads", ",".join(map(str, files)), "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = json.loads(done.stdout)["runs"]
        self.assertEqual([(run["workload"], run["jobs"]) for run in runs], [("low/jobs.csv", 1), ("high/jobs.csv", 2)])
        twice = call("sim", "compare", "--policies", "fifo", "--workloads", f"{files[0]},{files[0]}")
        self.assertEqual(twice.returncode, 2)

    def test_what_had_ended_is_kept_when_a_comparison_is_stopped(self):
        rows = self.folder / "rows.csv"
        words = [SCHEDCTL, "sim", "compare", "--policies", "fifo,fixed", "--jobs", "40", "--seeds", "1..900", "--csv",
                 rows]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            self.addCleanup(running.kill)
            self.assertIn("1 of 1800", running.stderr.readline())
            running.send_signal(signal.SIGINT)
            rest = running.communicate(timeout=120)[1]
        self.assertEqual(running.returncode, 130, rest)
        kept = rows_of(rows)
        self.assertGreater(len(kept), 0)
        self.assertIn(f"stopped: {len(kept)} of 1800 runs had ended; their rows are in {rows}", rest)

    def test_a_packed_file_that_was_cut_off_is_no_shorter_trace(self):
        packed = self.folder / "log.csv.gz"
        packed.write_bytes(gzip.compress(HELIOS.encode())[:-30])
        done = call("trace", "import", "--from", "helios", packed)
        self.assertEqual(done.returncode, 2)
        self.assertIn("it ends in the middle", done.stderr)

    def test_tenants_of_a_file_share_the_pool_of_a_run(self):
        self.trace.write_text("name,tenant,submit_s,gpus,duration_s\na,vision,0,4,100\nb,vision,0,4,100\n"
                              "c,speech,300,1,100\n")
        tree = self.folder / "tenants.yaml"
        tree.write_text("tenants:\n  - {name: vision, guarantee: 4}\n  - {name: speech, guarantee: 4}\n")
        words = ["sim", "run", "--workload", self.trace, "--cluster", "2x4"]
        done = call(*words, "--tenants", tree, "--alone")
        self.assertEqual(done.returncode, 0, done.stderr)
        sharing = json.loads(done.stdout)["sharing"]
        self.assertEqual([tenant["tenant"] for tenant in sharing["tenants"]], ["vision", "speech"])
        self.assertAlmostEqual(sharing["tenants"][0]["ratio"], 2 / 3, places=2)
        split = json.loads(call(*words, "--split", 2, "--deal", "job").stdout)["sharing"]
        self.assertEqual([tenant["guarantee"] for tenant in split["tenants"]], [4, 4])
        self.assertIsNone(split["mean_ratio"])
        self.assertNotIn("sharing", json.loads(call(*words).stdout))

    def test_a_file_of_tenants_that_cannot_be_used_is_told_with_what_to_do(self):
        self.trace.write_text("submit_s,gpus,duration_s\n0,2,3600\n")
        tree = self.folder / "tenants.yaml"
        words = ["sim", "run", "--workload", self.trace]
        for text, extra, told in (
            ("tenants:\n  - {name: a, guarante: 4}\n", [], 'tenants.yaml line 2, /tenants/0/guarante: '),
            ("tenants: []\n", [], "names no tenant"),
            ("tenants:\n  - {name: a, guarantee: 65}\n", [], "guaranteed 65 slots together, the cluster has 64"),
            ("tenants:\n  - {name: a}\n", [], 'is of the tenant "default", which is not there'),
            ("tenants:\n  - {name: a}\n", ["--deal", "user"], "names no user; deal by job or by hour"),
            ("tenants:\n  - {name: a}\n", ["--split", 2], "--tenants excludes --split"),
            ("tenants:\n  - {name: a}\n", ["--alone", "--until", "1h"], "leave out --until"),
        ):
            tree.write_text(text)
            done = call(*words, "--tenants", tree, *extra)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(told, done.stderr)
        self.assertIn("give --tenants FILE or --split N", call(*words, "--deal", "job").stderr)

    def test_a_timeline_still_needs_the_name_of_its_job(self):
        done = call("trace")
        self.assertEqual(done.returncode, 2)
        self.assertIn("job is required", done.stderr)

    def test_an_argument_that_is_missing_is_told_with_what_to_give(self):
        self.assertIn("changes is required: FIELD=VALUE, such as elastic.max=8", call("change", "job-1").stderr)
        self.assertIn("job is required: id or name", call("resize").stderr)

    @unittest.skipUnless(DATA.is_dir(), "no published traces here; set TIDEPOOL_DATA")
    def test_the_published_traces_are_read_whole(self):
        for source, path, jobs in (
            ("philly", "philly/philly_pollux_extract.csv.gz", 82247),
            ("elasticflow", "itp/cluster01.csv", 1595),
            ("elasticflow", "elasticflow/traces/elasticVpollux_e.csv", 195),
            ("tiresias", "tiresias/60_job.csv", 60),
        ):
            done = call("trace", "stats", "--from", source, DATA / path, "-o", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["jobs"], jobs)


if __name__ == "__main__":
    unittest.main()
