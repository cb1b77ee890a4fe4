"""Policy files in a real daemon with real host processes and real workers: the whole life of a version, and what
becomes of the hostile ones. Commands are typed as people type them."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
NATIVE = pathlib.Path(os.environ["TIDEPOOL_NATIVE_POLICIES"])
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import ApiError, Cluster, eventually  # noqa: E402

CAPPED = """
local P = {}
function P.size(view, params)
  local sizes = {}
  for i = 1, view.n do
    sizes[i] = math.min(view.size_wanted[i], params.most)
    if sizes[i] < view.size_wanted[i] then view.why(i, "Capped", {most = params.most}) end
  end
  return sizes
end
return P
"""
MANIFEST = {"name": "capped", "about": "no job gets more than most", "params": {"most": {"default": 2, "min": 1}}}
HOSTILE = {
    "policy.instruction_budget": "while true do end",
    "policy.memory_budget": "local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 1000) .. i end",
    "policy.runtime_error": "error('no idea')",
    "policy.invalid_number": "local s = {} for i = 1, view.n do s[i] = 0/0 end return s",
    "policy.invalid_size": "local s = {} for i = 1, view.n do s[i] = 99999 end return s",
    "policy.wrong_type": "return 'sizes'",
}


def lua(body):
    return "local P = {}\nfunction P.size(view, params)\n" + body + "\nend\nreturn P\n"


def job(name, wanted=4, most=4):
    # Steps of some milliseconds and epochs of many: a quiet job, so that the machine is free for the others.
    args = {"data": str(SOURCE / "docs/policies.md"), "steps": 1000000, "hidden": 128}
    return {"name": name, "run": {"trainer": "charlm", "args": args},
            "resources": {"gpus_per_worker": 1},
            "elastic": {"min": 1, "max": most, "preferred": wanted, "cooldown": "0s", "grace": "5s"},
            "batch": {"global": 64, "per_worker_max": 64}}


class PoliciesInDaemon(unittest.TestCase):
    def start(self, *arguments, slots=4):
        cluster = Cluster(str(BIN), slots=slots, arguments=arguments)
        self.addCleanup(cluster.close)
        return cluster

    def folder(self):
        made = tempfile.TemporaryDirectory(prefix="tp-policy-")
        self.addCleanup(made.cleanup)
        return pathlib.Path(made.name)

    def write_capped(self, most=2):
        folder = self.folder() / "capped"
        (folder / "tests").mkdir(parents=True)
        manifest = {**MANIFEST, "params": {"most": {"default": most, "min": 1}}}
        (folder / "policy.yaml").write_text(json.dumps(manifest))
        (folder / "policy.lua").write_text(CAPPED)
        (folder / "tests" / "basic.yaml").write_text(json.dumps([
            {"name": "large jobs are cut", "cluster": {"nodes": 1, "slots_per_node": 8},
             "jobs": [{"name": "large", "wanted": 8, "scaling": 0.9}],
             "expect": {"sizes": {"large": most}, "why": {"large": "Capped"}}}]))
        return folder

    def schedctl(self, cluster, *words, code=0):
        status, out, err = cluster.schedctl(*words, seconds=120)
        self.assertEqual(status, code, f"{words}\n{out}{err}")
        return out + err

    def upload(self, cluster, name, source, **more):
        body = {"manifest": {"name": name}, "source": source, **more}
        return cluster.call("POST", f"/v1/policies/{name}/versions", body)

    def wait_size(self, cluster, job_id, size):
        self.assertTrue(eventually(lambda: cluster.job(job_id)["size"] == size),
                        json.dumps(cluster.job(job_id), indent=1) + cluster.logs())

    def events(self, cluster, kind):
        return cluster.events(kind)

    def test_a_version_lives_from_its_first_shadow_to_its_rollback(self):
        own = ("--policy", "fixed")
        cluster = self.start(*own)
        job_id = cluster.submit(job("wide"))
        self.wait_size(cluster, job_id, 4)
        capped = self.write_capped()

        text = self.schedctl(cluster, "policy", "shadow", capped)
        self.assertIn("shadow: capped, version", text)

        def differs():  # nothing is decided any more: it is asked when the job has come to rest
            found = cluster.call("GET", "/v1/policies/capped/shadow-report")
            return found if found["rounds_different"] else None

        report = eventually(differs)
        self.assertTrue(report, cluster.logs())
        self.assertEqual(report["differences"][0]["candidate"], 2)
        self.assertEqual(report["differences"][0]["reason"]["word"], "Capped")
        self.assertIn("Capped", self.schedctl(cluster, "policy", "shadow", "capped", "--report"))
        self.assertGreater(cluster.job(job_id)["size"], 2)  # it changes nothing

        whole = self.schedctl(cluster, "policy", "diff", "--since", "7d", capped)
        self.assertIn("capped", whole)
        self.assertRegex(whole, "the journal goes back to [-0-9]+ [0-9:]+ UTC only, which is later than the time that was")

        def reaches_back():  # on a quick machine the whole journal may be younger than a second
            text = self.schedctl(cluster, "policy", "diff", "--since", "1s", capped)
            return text if "only" not in text else None

        late = eventually(reaches_back)
        self.assertTrue(late, whole)
        # However late a replay begins: the journal reaches as far back as before.
        self.assertEqual(*(re.search("goes back to ([-0-9]+ [0-9:]+ UTC)", text)[1] for text in (late, whole)))
        self.assertIn("capped, version", self.schedctl(cluster, "policy", "activate", capped))
        self.wait_size(cluster, job_id, 2)
        self.assertIn("Capped", self.schedctl(cluster, "why", job_id))
        self.assertRegex(self.schedctl(cluster, "policy", "ls"), r"\* *capped *file")

        # A restart, orderly or not, leaves the active policy as it was.
        for by in (signal.SIGTERM, signal.SIGKILL):
            cluster.restart(own, by=by)
            self.assertEqual(cluster.call("GET", "/v1/policies/status")["active"]["name"], "capped")
            second = cluster.submit(job("second", wanted=3))
            self.wait_size(cluster, second, 2)
            cluster.call("DELETE", f"/v1/jobs/{second}")

        wider = self.write_capped(most=3)
        self.schedctl(cluster, "policy", "activate", wider)
        self.wait_size(cluster, job_id, 3)
        self.assertIn("1 of 1 tests passed", self.schedctl(cluster, "policy", "versions", "capped"))
        self.assertIn("decides", self.schedctl(cluster, "policy", "rollback"))
        self.wait_size(cluster, job_id, 2)
        self.assertIn("own policy", self.schedctl(cluster, "policy", "rollback", "capped"))
        self.schedctl(cluster, "policy", "rollback", code=1)
        kinds = [event["type"] for event in cluster.events() if event["type"].startswith("policy.")]
        self.assertEqual(kinds, ["policy.shadow_started", "policy.activated", "policy.activated", "policy.rolled_back",
                                 "policy.rolled_back"])

    def test_each_hostile_policy_has_a_named_fault_and_the_built_in_default_decides(self):
        cluster = self.start()
        for number, (code, body) in enumerate(HOSTILE.items()):
            with self.subTest(code):
                name = f"hostile{number}"
                # Roomy in time: each is to end by the bound that it breaks, also on a busy machine.
                self.upload(cluster, name, lua(body),
                            manifest={"name": name, "budgets": {"memory_mib": 4, "wall": "10s"}})
                cluster.call("POST", f"/v1/policies/{name}/activate", {})
                jobs = []
                for round_ in range(3):  # each job is a new question
                    jobs.append(cluster.submit(job(f"{name}-{round_}", wanted=1, most=1)))
                    self.assertTrue(eventually(lambda: cluster.job(jobs[-1])["state"] == "running"), cluster.logs())
                faults = [e["data"] for e in cluster.events("policy.error") if e["data"]["policy"] == name]
                self.assertEqual([fault["code"] for fault in faults], [code] * len(faults))
                self.assertTrue(eventually(lambda: cluster.call("GET", "/v1/policies/status")["active"] is None),
                                cluster.logs())
                rolled = cluster.events("policy.rolled_back")[-1]["data"]
                self.assertEqual((rolled["policy"], rolled["to"]), (name, None))
                self.assertIn("3 rounds in a row", rolled["why"])
                for each in jobs:
                    cluster.call("DELETE", f"/v1/jobs/{each}")
                self.assertTrue(eventually(lambda: all(cluster.job(j)["state"] == "cancelled" for j in jobs)))

    def test_hostile_native_code_costs_rounds_and_never_the_daemon(self):
        cluster = self.start("--allow-native-policies")
        folder = self.folder() / "hostile"
        folder.mkdir()
        shutil.copy(NATIVE / "hostile_policy.so", folder / "policy.so")
        (folder / "policy.yaml").write_text("name: hostile\nengine: native\nparams: {act: {default: 0}}\n")
        acts = {1: "policy.crashed", 2: "policy.crashed", 4: "policy.deadline", 8: "policy.forbidden_call",
                20: "policy.invalid_number", 22: "policy.invalid_size"}
        faults = lambda: [event["data"]["code"] for event in cluster.events("policy.error")]
        for act, code in acts.items():
            with self.subTest(code):
                before = len(faults())
                self.schedctl(cluster, "policy", "activate", folder, "--param", f"act={act}")
                job_id = cluster.submit(job(f"survivor-{act}", wanted=1, most=1))
                self.assertTrue(eventually(lambda: cluster.job(job_id)["state"] == "running"), cluster.logs())
                # The job may run by the fallback of the fault before, until this version has been asked; after three
                # failures the version before takes its place, with a fault of its own.
                eventually(lambda: code in faults()[before:])
                self.assertIn(code, faults()[before:], cluster.logs())
                cluster.call("DELETE", f"/v1/jobs/{job_id}")
                eventually(lambda: cluster.job(job_id)["state"] == "cancelled")

    def test_a_candidate_that_fails_in_recorded_rounds_is_said_to_fail(self):
        cluster = self.start("--policy", "fixed")
        self.wait_size(cluster, cluster.submit(job("wide")), 4)
        folder = self.folder() / "nan"
        folder.mkdir()
        (folder / "policy.yaml").write_text("name: nan\nabout: x\napi: 2\n")
        (folder / "policy.lua").write_text(lua(HOSTILE["policy.invalid_number"]))
        text = self.schedctl(cluster, "policy", "diff", folder, code=1)
        self.assertRegex(text, r"\n\d+ rounds? failed with policy.invalid_number\nthe last: policy.invalid_number")
        (folder / "policy.lua").write_text("return {size = ")
        self.schedctl(cluster, "policy", "diff", folder, code=3)

    def test_a_policy_sees_the_tenant_of_a_job_and_the_types_and_prices_of_nodes(self):
        cluster = self.start("--policy", "fixed")
        names = {"gold": 3, "research/vision": 1}
        jobs = {tenant: cluster.submit({**job("trains", wanted=2), "tenant": tenant}) for tenant in names}
        folder = self.folder() / "by_tenant"
        folder.mkdir()
        (folder / "policy.yaml").write_text("name: by_tenant\nabout: x\napi: 2\n")
        (folder / "policy.lua").write_text(lua("""
  local s = {}
  assert(view.node_type[1] == "cpu" and view.node_price[1] == 1)
  for i = 1, view.n do
    s[i] = view.tenant[i] == "gold" and 3 or 1
    if view.size[i] > 0 then
      assert(view.price[i] == view.size[i] and view.types_held[i].cpu == view.size[i])
    end
  end
  return s"""))
        self.schedctl(cluster, "policy", "activate", folder)
        for tenant, size in names.items():
            self.wait_size(cluster, jobs[tenant], size)
        self.assertEqual(cluster.events("policy.error"), [])

    def test_a_policy_file_divides_what_is_left_beyond_guarantees_between_tenants(self):
        cluster = self.start("--policy", "tidal")
        tree = self.folder() / "tree.yaml"
        tree.write_text("tenants:\n  - {name: vision, guarantee: 1}\n  - {name: speech, weight: 2}\n")
        self.schedctl(cluster, "tenants", "apply", tree, "--yes")
        for tenant in ("vision", "speech"):
            cluster.submit({**job("wide"), "tenant": tenant})
        # With a hook that gives each job all that it may have, so that no measured speed says what a tenant wants.
        folder = self.folder() / "tenant_priority"
        shutil.copytree(SOURCE / "examples/policies/tenant_priority", folder)
        for name, before, after in (("policy.yaml", "hooks: [share]", "hooks: [size, share]"),
                                    ("policy.lua", "return P\n",
                                     "function P.size(view) return view.size_max end\nreturn P\n")):
            text = (folder / name).read_text()
            self.assertIn(before, text)
            (folder / name).write_text(text.replace(before, after))

        def entitled():
            return [tenant["now"]["entitled"] for tenant in cluster.call("GET", "/v1/tenants")["tenants"]]

        # Of the three beyond the guarantee `speech` gets two by its weight, all of them by priority.
        for how, slots in ((("activate", folder), [1, 3]),
                           (("activate", "tenant_priority", "--param", "day_to=0"), [2, 2]),
                           (("activate", self.write_capped(most=4)), [None, None]),
                           (("rollback",), [2, 2]),
                           (("rollback",), [1, 3])):
            with self.subTest(how):
                told = self.schedctl(cluster, "policy", *how)
                self.assertEqual("has no hook share" in told, None in slots, told)
                self.assertTrue(eventually(lambda: entitled() == slots), f"{entitled()}\n{cluster.logs()}")
                warnings = cluster.call("GET", "/v1/tenants")["warnings"]
                self.assertEqual(len(warnings), 1 if None in slots else 0)
        cluster.restart(by=signal.SIGKILL)
        self.assertTrue(eventually(lambda: entitled() == [1, 3]), cluster.logs())
        self.assertEqual(cluster.events("policy.error"), [])

    def test_native_policies_are_refused_without_the_flag_and_say_so(self):
        cluster = self.start()
        folder = self.folder() / "even_split"
        shutil.copytree(SOURCE / "examples/policies/even_split", folder)
        shutil.copy(NATIVE / "even_split.so", folder / "policy.so")
        text = self.schedctl(cluster, "policy", "activate", folder, code=3)
        self.assertIn("--allow-native-policies", text)

    def test_a_state_directory_keeps_its_policy_until_another_is_asked_for(self):
        def builtin():
            return cluster.call("GET", "/v1/policies/status")["builtin"]

        def has_decided(policy):
            return any(each["policy"] == policy for each in cluster.call("GET", "/v1/decisions?limit=5")["items"])

        cluster = self.start("--policy", "fixed")
        job_id = cluster.submit(job("wide", wanted=3))
        self.wait_size(cluster, job_id, 3)
        for by in (signal.SIGTERM, signal.SIGKILL):  # neither way to end it lets the default of today take over
            cluster.restart(by=by)
            self.assertEqual(builtin(), "fixed")
        self.assertIn("event=policy_kept policy=fixed", cluster.logs())
        self.assertTrue(next(each for each in cluster.call("GET", "/v1/policies")["items"]
                             if each["name"] == "fixed")["default"])

        # A file decides in its place across a restart, and a rollback ends at the policy that was kept.
        self.schedctl(cluster, "policy", "activate", self.write_capped())
        self.wait_size(cluster, job_id, 2)
        cluster.restart(by=signal.SIGKILL)
        self.assertEqual(cluster.call("GET", "/v1/policies/status")["active"]["name"], "capped")
        self.assertEqual(builtin(), "fixed")
        self.assertIn("own policy", self.schedctl(cluster, "policy", "rollback"))
        self.wait_size(cluster, job_id, 3)
        cluster.restart()
        self.assertIsNone(cluster.call("GET", "/v1/policies/status")["active"])
        self.assertEqual(builtin(), "fixed")

        # --policy goes before what was kept, and is what is kept from its first decision on.
        cluster.restart(("--policy", "las"))
        self.assertEqual(builtin(), "las")
        self.assertTrue(eventually(lambda: has_decided("las")), cluster.logs())
        cluster.restart()
        self.assertEqual(builtin(), "las")

    def test_a_policy_on_the_command_line_decides_from_the_first_job_on(self):
        capped = self.write_capped(most=1)
        cluster = self.start("--policy", str(capped))
        job_id = cluster.submit(job("first"))
        self.wait_size(cluster, job_id, 1)
        status = cluster.call("GET", "/v1/policies/status")
        self.assertEqual(status["active"]["name"], "capped")
        self.assertEqual(status["builtin"], "tidal")

    def test_a_policy_that_cannot_run_stops_the_start_with_a_sentence(self):
        path = self.folder() / "broken.lua"
        path.write_text("this is not Lua")
        result = subprocess.run([BIN / "schedulerd", "--listen", "127.0.0.1:0", "--state-dir", self.folder() / "state",
                                 "--policy", path], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("policy.syntax_error", result.stderr)

    def test_a_policy_that_fails_its_tests_stops_the_start_with_the_name_of_the_test(self):
        capped = self.write_capped()
        test = capped / "tests" / "basic.yaml"
        test.write_text(test.read_text().replace('"large": 2', '"large": 7'))
        result = subprocess.run([BIN / "schedulerd", "--listen", "127.0.0.1:0", "--state-dir", self.folder() / "state",
                                 "--policy", capped], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn('1 of 1 tests fail; tests/basic.yaml, "large jobs are cut": the size of large is 2, not 7',
                      result.stderr)

    def test_a_policy_without_tests_decides_with_a_warning(self):
        capped = self.write_capped(most=1)
        shutil.rmtree(capped / "tests")
        cluster = self.start("--policy", str(capped))
        self.assertIn("event=policy_untested policy=capped", cluster.logs())
        wider = self.write_capped(most=3)
        shutil.rmtree(wider / "tests")
        self.assertIn("it has no tests", self.schedctl(cluster, "policy", "store", wider))
        self.assertIn("warning: capped decides and has no tests", self.schedctl(cluster, "policy", "activate", wider))
        tested = self.write_capped(most=2)
        self.assertNotIn("warning", self.schedctl(cluster, "policy", "activate", tested))

    def test_a_slow_policy_does_not_hold_the_loop_up(self):
        cluster = self.start()
        body = "local n = 0 for i = 1, 1.5e7 do n = n + 1 end local s = {} for i = 1, view.n do s[i] = 1 end return s"
        self.upload(cluster, "slow", lua(body), manifest={
            "name": "slow", "budgets": {"instructions": 200000000, "wall": "10s"}})
        cluster.call("POST", "/v1/policies/slow/activate", {})
        job_id = cluster.submit(job("patient"))
        # While the first answer is awaited, facts are learnt and commands carried out.
        node = eventually(lambda: cluster.call("GET", "/v1/nodes")["items"])[0]["id"]
        self.assertTrue(cluster.call("POST", f"/v1/nodes/{node}/cordon")["cordoned"])
        self.assertFalse(cluster.call("POST", f"/v1/nodes/{node}/uncordon")["cordoned"])
        self.wait_size(cluster, job_id, 1)
        self.assertEqual(cluster.events("policy.error"), [])

    def test_what_may_not_decide_is_refused_with_a_hint(self):
        cluster = self.start()
        capped = self.write_capped()
        test = capped / "tests" / "basic.yaml"
        test.write_text(test.read_text().replace('"large": 2', '"large": 7'))
        text = self.schedctl(cluster, "policy", "activate", capped, code=3)
        self.assertIn("1 of 1 tests of capped fail", text)
        self.assertIsNone(cluster.call("GET", "/v1/policies/status")["active"])
        for path, body, part in (
                ("/v1/policies/tidal/versions", {"manifest": {"name": "tidal"}, "source": "return {}"}, "NameTaken"),
                ("/v1/policies/none/activate", {}, "UnknownPolicyVersion"),
                ("/v1/policies/capped/activate", {"params": {"mots": 3}}, "did you mean"),
                ("/v1/policies/capped/activate", {"versoin": "a"}, "did you mean"),
                ("/v1/policies/x/versions", {"manifest": {"name": "x", "engine": "perl"}, "source": "1"}, "engine")):
            with self.subTest(path), self.assertRaises(ApiError) as refused:
                cluster.call("POST", path, body)
            self.assertIn(part, str(refused.exception))


if __name__ == "__main__":
    unittest.main()
