"""Three tenants share four hosts: one borrows, the others claim their guarantees, a budget is spent, a host is taken
back and the daemon is killed. What `schedctl` says at each stage is quoted in docs/tour.md, and is compared with it.

TIDEPOOL_REWRITE=1 writes the quotes anew.
"""

import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from hosts import BIN, SOURCE  # noqa: E402
from job_over_hosts import HostsCase, main  # noqa: E402
from tests.support.cluster import eventually  # noqa: E402

WORKER = os.environ["TIDEPOOL_TEST_PROGRAMS"] + "/elastic_worker"
CHECK_JOURNAL = os.environ["TIDEPOOL_TEST_PROGRAMS"] + "/check_journal"
TREE = """\
tenants:
  - {name: vision, guarantee: 4}
  - {name: speech, guarantee: 2}
  - {name: guests}
"""
# Where the dashboard is built and a browser is there, it is read, too.
HAS_BROWSER = os.path.exists(os.environ.get("TIDEPOOL_CHROMIUM", "/usr/bin/chromium"))
HAS_PACKAGES = (SOURCE / "webui/node_modules/playwright-core").exists()
READ_PAGE = ["node", str(SOURCE / "tests/webui/read_page.mjs")] if HAS_BROWSER and HAS_PACKAGES else []
# What differs from run to run: times of day, amounts, durations and other numbers with a fraction.
VARIES = re.compile(r"\d[\d,]*(\.\d+)?( (ms|s|min|h)\b)*|\b0\.\d+\b")


def job(name, tenant, least, most):
    """Each sample takes a slot 30 ms, beside which the worker does the rest: a step of eight workers takes 180 ms on a
    busy machine, too, so that eight pay in any run, and six beside four. They come and go by twos, as many as a host
    has slots."""
    return {"name": name, "tenant": tenant, "run": {"command": [WORKER, "-1", "30000"]},
            "elastic": {"min": least, "max": most, "step": 2, "cooldown": "1s", "grace": "5s"},
            "batch": {"global": 48, "per_worker_max": 48}}


def masked(text):
    """With columns as wide as they must be."""
    return re.sub(" +", " ", VARIES.sub("#", text))


class Quotes:
    """The blocks of docs/tour.md that show a command: each begins with `$ schedctl`."""

    PATH = SOURCE / "docs/tour.md"

    def __init__(self):
        self.parts = self.PATH.read_text().split("```\n")
        self.shown = [at for at, part in enumerate(self.parts) if at % 2 and part.startswith("$ schedctl")]
        self.next = 0

    def take(self, command, lines):
        """The next block is of this command, and shows such lines."""
        at = self.shown[self.next]
        self.next += 1
        told = f"$ schedctl {command}\n" + "".join(line + "\n" for line in lines)
        if os.environ.get("TIDEPOOL_REWRITE"):
            self.parts[at] = told
            self.PATH.write_text("```\n".join(self.parts))
        return masked(self.parts[at]), masked(told)


class TourTest(HostsCase):
    def open_pool(self):
        self.pool = self.open(
            hosts=4, slots=2, words=("--policy", "tidal"),
            # As nothing changes for long, so that words of a start would stand until the next plan.
            config={"engine": {"plan_every": "5s"}},
            agent_words=lambda host, folder: ("--notice-file", str(folder / f"host{host}.notice"),
                                              "--notice-period", "100ms"))
        self.quotes = Quotes()

    def schedctl(self, *words, stdin="", columns=120):
        environment = {**os.environ, "TIDEPOOL_URL": self.pool.url, "TIDEPOOL_TOKEN": self.pool.token,
                       "TIDEPOOL_CA": self.pool.ca, "COLUMNS": str(columns), "NO_COLOR": "1"}
        done = subprocess.run([str(BIN / "schedctl"), *words], input=stdin, capture_output=True, text=True, timeout=60,
                              env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def quote(self, command, *patterns, columns=120):
        """The lines of what the command says that the patterns find, each in its turn; waited for, as jobs go on."""
        def found():
            lines = iter(self.schedctl(*command.split(), columns=columns).splitlines())
            hits = [next((line for line in lines if re.search(pattern, line)), None) for pattern in patterns]
            return None if None in hits else hits
        lines = eventually(found, 30, 0.2)
        self.assertTrue(lines, f"schedctl {command} never said {patterns}\n" + self.schedctl(*command.split()))
        quoted, told = self.quotes.take(command, lines)
        self.assertEqual(quoted, told)

    def dashboard(self, page, *texts):
        """All of the texts stand on the page at once."""
        if not READ_PAGE:
            return
        token = urllib.parse.quote(self.pool.token)
        done = subprocess.run(
            [*self.pool.network.inside(0), *READ_PAGE, f"{self.pool.url}/#/{page}&token={token}", *texts],
            capture_output=True, text=True, timeout=120, env={**os.environ, "TIDEPOOL_SOURCE_DIR": str(SOURCE)})
        self.assertEqual(done.returncode, 0, f"{texts} on the page {page}:\n{done.stdout}{done.stderr}")

    def wait_sizes(self, **sizes):
        def now():
            return {one["name"]: one["size"] for one in self.pool.call("GET", "/v1/jobs?limit=100")["items"]
                    if one["state"] not in ("resizing", "starting")}
        self.wait_for(self.pool, f"sizes {sizes}", lambda: sizes.items() <= now().items(), 90)

    def wait_steps(self, one, count=20):
        first = self.step(one)
        self.wait_for(self.pool, f"steps of {one}", lambda: self.step(one) >= first + count, 90)

    def step(self, one):
        return self.pool.job(one)["progress"]["step"]

    def hosts_of(self, one):
        return {node["name"] for node in self.pool.call("GET", "/v1/nodes")["items"]
                if any(slot["job"] == one for slot in node["slots"])}

    def test_three_tenants_on_four_hosts(self):
        self.open_pool()
        self.borrow()
        self.reclaim_by_shrinking()
        self.preempt()
        self.resume_elsewhere()
        self.spend_the_budget()
        self.give_a_host_back()
        self.kill_the_daemon()
        self.assertEqual(self.quotes.next, len(self.quotes.shown), "docs/tour.md shows more")
        self.check_journal()

    def borrow(self):
        self.schedctl("tenants", "apply", "-", "--yes", stdin=TREE)
        self.sweep = self.pool.submit(job("sweep", "guests", 4, 8))
        self.wait_sizes(sweep=8)
        self.quote("tenants", "TENANT", "vision", "speech", "guests")
        self.quote(f"why {self.sweep}", "keeps 8 workers: it may not have more", "Evidence", "  - 4 workers:",
                   "  - 8 workers:", "may have 8 slots")
        self.dashboard("tenants", "8 in use · 0 guaranteed · 8 entitled · 8 borrowed")

    def reclaim_by_shrinking(self):
        self.train = self.pool.submit(job("train", "vision", 4, 4))
        self.wait_sizes(train=4, sweep=4)
        self.assertEqual(self.pool.events("job.parked"), [], "shrinking made the room")
        self.quote(f"why {self.train}", "keeps 4 workers: it may not have more", "vision may have 4 slots now, 4 of them guaranteed")
        self.quote(f"why {self.sweep}", "keeps 4 workers: tenant guests may have 4 slots now", "its jobs hold 4", "What would",
                   "larger guarantee")
        self.dashboard("tenants", "4 in use · 4 guaranteed · 4 entitled", "4 in use · 0 guaranteed · 4 entitled")
        self.dashboard(f"jobs/{self.sweep}", "tenant guests may have 4 slots now")

    def preempt(self):
        self.wait_steps(self.sweep)
        self.listen = self.pool.submit(job("listen", "speech", 2, 2))
        self.wait_sizes(listen=2, sweep=0)
        self.wait_for(self.pool, "the saved state", lambda: self.pool.job(self.sweep)["state"] == "pending")
        # Too narrow for forecasts, which are there once they are made.
        self.quote("ls", "JOB", "listen .*keeps 2", "train .*keeps 4", "sweep .*waits for 4", columns=99)
        self.quote(f"why {self.sweep}", "is pending", "its state of step", "tenant guests", "What would change it",
                   "larger guarantee")
        self.quote("tenants", "TENANT", "vision", "speech", "guests")
        self.dashboard("tenants", "2 in use · 2 guaranteed · 2 entitled", "1 waiting")

    def resume_elsewhere(self):
        saved = self.pool.events("job.parked")[-1]["data"]["step"]
        keeps = re.search(r"is kept on node (\w+)", self.schedctl("why", self.sweep)).group(1)
        self.schedctl("cordon", keeps)
        self.schedctl("cancel", self.train)
        self.wait_for(self.pool, "a sweep that trains", lambda: self.pool.job(self.sweep)["state"] == "running")
        self.wait_steps(self.sweep)
        self.assertNotIn(keeps, self.hosts_of(self.sweep))
        restored = [event["data"] for event in self.pool.events("job.restored") if event["job"] == self.sweep]
        self.assertEqual([(data["step"], data["steps_lost"]) for data in restored], [(saved, 0)],
                         self.schedctl("events", self.sweep, "--limit", "1000"))
        # As many as other hosts have left: six where `listen` is on the one that is cordoned, else four.
        self.quote(f"why {self.sweep}", r"keeps \d workers: tenant guests may have \d slots now", "Evidence",
                   "  - 4 workers:", "its jobs hold", "What would change it", "larger guarantee")
        size = self.pool.job(self.sweep)["size"]
        self.dashboard(f"jobs/{self.sweep}", f"keeps {size} workers", f"tenant guests may have {size} slots now")
        self.schedctl("uncordon", keeps)
        self.quote(f"events {self.sweep} --limit 1000", "parked", "brought", "restored")

    def spend_the_budget(self):
        spent = float(self.pool.call("GET", "/v1/tenants/speech")["now"]["cost"])
        budget = f"{{limit: {spent + 0.005:.6f}, window: month, thresholds: [{{percent: 100, action: pause}}]}}"
        self.schedctl("tenants", "apply", "-", "--yes",
                      stdin=TREE.replace("speech, guarantee: 2", f"speech, guarantee: 2, budget: {budget}"))
        self.wait_sizes(listen=0)
        self.wait_for(self.pool, "the pause", lambda: self.pool.job(self.listen)["state"] == "pending")
        self.quote(f"why {self.listen}", "is pending", "a larger budget")
        self.dashboard("tenants", "paused until")
        self.wait_sizes(sweep=8)
        self.schedctl("tenants", "apply", "-", "--yes", stdin=TREE)
        self.wait_sizes(listen=2)
        self.wait_steps(self.listen)

    def give_a_host_back(self):
        host = min(self.hosts_of(self.listen))
        (self.pool.folder / "new.notice").write_text("30\n")
        (self.pool.folder / "new.notice").rename(self.pool.folder / f"{host}.notice")
        self.quote("nodes", "NODE", "reclaimed at")
        self.quote(f"why {self.listen}", "waits for 1 free slot elsewhere, .* will be reclaimed", "tenant speech may have",
                   "What would change it", "add a node", columns=160)
        self.dashboard("", "reclaimed at")
        self.wait_for(self.pool, "an empty host", lambda: self.node(host)["drain"]["drained"])
        self.wait_sizes(listen=2, sweep=4)
        self.wait_steps(self.listen)
        agent = self.pool.agents.pop(int(host.removeprefix("host")))
        agent.kill()
        agent.wait()
        self.wait_for(self.pool, "the loss of the host", lambda: self.node(host)["state"] == "lost")
        self.wait_steps(self.listen)
        self.quote(f"events {self.listen} --limit 1000", "parked", "parked", "brought", "restored")
        self.assertEqual(self.pool.events("worker.lost"), [])
        self.assertEqual({event["data"]["steps_lost"] for event in self.pool.events("job.restored")}, {0})

    def node(self, name):
        return next(node for node in self.nodes_list() if node["name"] == name)

    def nodes_list(self):
        return self.pool.call("GET", "/v1/nodes")["items"]

    def kill_the_daemon(self):
        before = {one: self.step(one) for one in (self.sweep, self.listen)}
        cost = self.pool.call("GET", "/v1/tenants/guests")["now"]["cost"]
        self.pool.kill_daemon()
        for one, step in before.items():
            self.wait_for(self.pool, f"{one} to go on", lambda one=one, step=step: self.step(one) > step, 90)
        self.assertGreaterEqual(float(self.pool.call("GET", "/v1/tenants/guests")["now"]["cost"]), float(cost))

    def check_journal(self):
        """Replayed from the first row: lawful decisions, right books, and what the daemon recovers to."""
        copy = self.pool.folder / "copy.db"
        with sqlite3.connect(f"file:{self.pool.folder}/state/journal.db?mode=ro", uri=True) as journal:
            with sqlite3.connect(copy) as target:
                journal.backup(target)
        done = subprocess.run([CHECK_JOURNAL, copy], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    sys.exit(main())
