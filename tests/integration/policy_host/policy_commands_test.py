"""schedctl's offline commands for policy files, and the examples with their tests: the programs as people run them."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
NATIVE = pathlib.Path(os.environ["TIDEPOOL_NATIVE_POLICIES"])
EXAMPLES = SOURCE / "examples" / "policies"


def schedctl(*words):
    return subprocess.run([BIN / "schedctl", *map(str, words)], capture_output=True, text=True, timeout=120)


class PolicyCommands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tp-policy-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_the_examples_pass_their_tests(self):
        names = ("cost_cap", "deadline_first", "elastic_tiresias", "night_borrowing", "spare_node", "tenant_priority")
        for name in names:
            with self.subTest(name):
                result = schedctl("policy", "test", EXAMPLES / name)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn(f"tests of {name} passed", result.stdout)

    def test_the_native_example_passes_its_test_once_it_is_built(self):
        folder = self.folder / "even_split"
        shutil.copytree(EXAMPLES / "even_split", folder, ignore=shutil.ignore_patterns("*.so"))
        unbuilt = schedctl("policy", "validate", folder)
        self.assertEqual(unbuilt.returncode, 2)
        self.assertIn("a native policy is built first, such as by c++", unbuilt.stderr)
        shutil.copy(NATIVE / "even_split.so", folder / "policy.so")
        result = schedctl("policy", "test", folder)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_new_policy_works_and_has_a_test(self):
        folder = self.folder / "my_policy"
        self.assertEqual(schedctl("policy", "new", folder).returncode, 0)
        self.assertEqual(schedctl("policy", "validate", folder).returncode, 0)
        result = schedctl("policy", "test", folder)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("ok      a job that needs more than is allowed waits\n", result.stdout)
        again = schedctl("policy", "new", folder)
        self.assertEqual(again.returncode, 2)
        self.assertIn("is there already", again.stderr)
        self.assertEqual(schedctl("policy", "new", self.folder / "Bad Name").returncode, 2)

    def test_a_wish_for_a_pool_is_refused_with_a_sentence(self):
        path = self.write("renter.lua", "return {order = function(v) return {} end, pool = function() return nil end}")
        result = schedctl("policy", "validate", path)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("how many nodes pools should have is what the hook provision answers", result.stderr)
        self.assertIn("leave the hook out", result.stderr)

    def test_a_file_of_version_1_is_refused_with_what_to_change(self):
        folder = self.folder / "old"
        self.assertEqual(schedctl("policy", "new", folder).returncode, 0)
        manifest = folder / "policy.yaml"
        manifest.write_text(manifest.read_text().replace("api: 2", "api: 1"))
        refused = schedctl("policy", "validate", folder)
        self.assertEqual(refused.returncode, 2)
        for what in ('policy.yaml', 'write "api: 2"', "view.tenant", "docs/policies.md"):
            self.assertIn(what, refused.stderr)

    def test_a_native_file_of_version_1_is_refused_with_what_to_change(self):
        folder = self.folder / "old"
        shutil.copytree(EXAMPLES / "even_split", folder, ignore=shutil.ignore_patterns("*.so"))
        shutil.copy(NATIVE / "old_policy_1.so", folder / "policy.so")
        refused = schedctl("policy", "validate", folder)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("rename its function tidepool_policy_v1 to tidepool_policy_v2", refused.stderr)

    def test_the_version_follows_text_and_parameters(self):
        def version(path):
            result = schedctl("-o", "json", "policy", "validate", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            return json.loads(result.stdout)["version"]

        folder = self.folder / "p"
        self.assertEqual(schedctl("policy", "new", folder).returncode, 0)
        first = version(folder)
        self.assertEqual(first, version(folder))
        self.assertRegex(first, "^[0-9a-f]{64}$")
        manifest = (folder / "policy.yaml").read_text()
        (folder / "policy.yaml").write_text(manifest.replace("default: 4", "default: 5"))
        second = version(folder)
        self.assertNotEqual(first, second)
        with (folder / "policy.lua").open("a") as text:
            text.write("-- a comment\n")
        self.assertNotEqual(second, version(folder))

    def test_a_test_that_fails_says_what_it_found(self):
        folder = self.folder / "p"
        schedctl("policy", "new", folder)
        tests = folder / "tests" / "basic.yaml"
        tests.write_text(tests.read_text().replace("sizes: {large: 2", "sizes: {large: 3"))
        result = schedctl("policy", "test", folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("the size of large is 2, not 3", result.stdout)
        self.assertIn("1 of 2 tests of p passed", result.stdout)

    def test_a_wrong_test_file_is_told_by_line(self):
        folder = self.folder / "p"
        schedctl("policy", "new", folder)
        tests = folder / "tests" / "basic.yaml"
        tests.write_text(tests.read_text().replace("wanted: 8", "wantd: 8"))
        result = schedctl("policy", "test", folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("line 5", result.stderr)
        self.assertIn("wanted", result.stderr)

    def test_each_bad_policy_gets_a_sentence_and_a_name(self):
        bad = {
            "return {": (1, "policy.syntax_error"),
            "while true do end": (1, "policy.instruction_budget"),
            "return {sizes = function() end}": (1, "policy.wrong_shape"),
            "\x1bLua": (1, "policy.bytecode"),
        }
        for text, (code, name) in bad.items():
            with self.subTest(text):
                result = schedctl("policy", "validate", self.write("bad.lua", text))
                self.assertEqual(result.returncode, code)
                self.assertIn(name, result.stderr)
        self.assertEqual(schedctl("policy", "validate", self.folder / "absent.lua").returncode, 2)
        self.assertEqual(schedctl("policy", "validate", self.write("a.txt", "x")).returncode, 2)

    def test_a_hook_that_the_manifest_lists_must_be_there(self):
        self.write("p/policy.yaml", "hooks: [admit]\n")
        self.write("p/policy.lua", "return {size = function() return {} end}")
        result = schedctl("policy", "validate", self.folder / "p")
        self.assertEqual(result.returncode, 1)
        self.assertIn("lists the hook admit", result.stderr)

    def listed_or_refused(self, hook):
        text = f"return {{{hook} = function() return {{}} end}}"
        result = schedctl("policy", "validate", self.write("alone.lua", text))
        self.assertEqual(result.returncode, 1)
        self.assertIn(f'write "hooks: [{hook}]" there', result.stderr)
        self.write("p/policy.yaml", f"hooks: [{hook}]\n")
        self.write("p/policy.lua", text)
        self.assertEqual(schedctl("policy", "validate", self.folder / "p").returncode, 0)

    def test_the_hook_share_is_listed_in_the_manifest_or_refused(self):
        self.listed_or_refused("share")

    def test_the_hook_provision_is_listed_in_the_manifest_or_refused(self):
        self.listed_or_refused("provision")

    def test_a_test_with_pools_is_for_a_policy_that_says_how_many_nodes_they_have(self):
        folder = self.folder / "p"
        schedctl("policy", "new", folder)
        tests = folder / "tests" / "basic.yaml"
        tests.write_text(tests.read_text().replace("slots_per_node: 4}", "slots_per_node: 4, pools: [{name: gpu}]}"))
        result = schedctl("policy", "test", folder)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("policy.yaml does not list the hook provision", result.stdout)

    def test_a_test_with_tenants_is_for_a_policy_that_shares_between_them(self):
        folder = self.folder / "p"
        schedctl("policy", "new", folder)
        tests = folder / "tests" / "basic.yaml"
        text = tests.read_text().replace("slots_per_node: 4}", "slots_per_node: 4, tenants: [{name: default}]}")
        tests.write_text("\n".join(line for line in text.splitlines() if "grants" not in line) + "\n")
        result = schedctl("policy", "test", folder)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("policy.yaml does not list the hook share", result.stdout)

    def test_a_wrong_manifest_is_refused(self):
        self.write("p/policy.lua", "return {size = function() return {} end}")
        for manifest, words in {
            "nme: x\n": "name",
            "budgets: {wall: 1h}\n": "1ms to 10s",
            "params: {most: {default: 5, max: 4}}\n": "at most 4",
            "engine: wasm\n": "lua or native",
        }.items():
            with self.subTest(manifest):
                self.write("p/policy.yaml", manifest)
                result = schedctl("policy", "validate", self.folder / "p")
                self.assertEqual(result.returncode, 2)
                self.assertIn(words, result.stderr)

    def test_a_folder_is_simulated_by_its_name_with_and_without_a_slash(self):
        self.assertEqual(schedctl("policy", "new", self.folder / "my_rule").returncode, 0)
        for name in ("my_rule", "my_rule/"):
            # It is found, and only then asked for rules that can run it.
            run = subprocess.run([BIN / "schedctl", "sim", "run", "--jobs", "2", "--policy", name,
                                  "--simulator", "gavel"],
                                 capture_output=True, text=True, timeout=120, cwd=self.folder)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn("a policy file is simulated under --simulator live or pollux, not gavel", run.stderr)

    def rule(self, lua=""):
        """A new policy whose rounds may take long, because the machine may be busy; with this text in place of its."""
        folder = self.folder / "my_rule"
        if not folder.exists():
            self.assertEqual(schedctl("policy", "new", folder).returncode, 0)
            with (folder / "policy.yaml").open("a") as text:
                text.write("budgets: {wall: 10s}\n")
        if lua:
            (folder / "policy.lua").write_text(lua)
        return folder

    def example(self, name):
        folder = self.folder / name
        shutil.copytree(EXAMPLES / name, folder)
        with (folder / "policy.yaml").open("a") as text:
            text.write("budgets: {wall: 10s}\n")
        return folder

    def simulate(self, folder, *more, code=0):
        rows = [f"job-{i},default,{60 * i},0,1,8,4,64,60000,100,0.05,0" for i in range(8)]
        columns = "name,tenant,submit_s,priority,min,max,preferred,batch,samples,samples_per_second,sigma,kappa"
        jobs = self.write("jobs.csv", "\n".join([columns, *rows]) + "\n")
        run = schedctl("sim", "run", "--workload", jobs, "--cluster", "2x4", "--policy", folder, *more)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run

    def test_a_policy_file_decides_under_the_daemons_own_rules_and_each_time_alike(self):
        folder = self.rule()
        held = self.folder / "decisions.jsonl"
        digests = {}
        for most in (1, 4):
            manifest = folder / "policy.yaml"
            manifest.write_text(re.sub(r"most: {default: \d", f"most: {{default: {most}", manifest.read_text()))
            runs = [json.loads(self.simulate(folder, "--decisions", held).stdout) for _ in range(2)]
            self.assertEqual(runs[0]["digest"], runs[1]["digest"])
            self.assertEqual(runs[0]["policy"], "my_rule")
            digests[most] = runs[0]["digest"]
            self.assertIn("my_rule@", held.read_text())  # it is in charge, as in a daemon
            if most == 1:
                self.assertEqual(runs[0]["completed"], 8)
        self.assertNotEqual(digests[1], digests[4])

    def test_parameters_of_a_simulated_file_are_set_and_refused_as_at_an_activation(self):
        folder = self.rule()
        by_file = json.loads(self.simulate(folder).stdout)
        runs = [json.loads(self.simulate(folder, "--param", "most=1").stdout) for _ in range(2)]
        self.assertEqual(runs[0]["digest"], runs[1]["digest"])
        self.assertEqual(runs[0]["completed"], 8)
        self.assertGreater(runs[0]["avg_jct_s"], by_file["avg_jct_s"])  # with one slot each, not four
        for given, told in {"mst=1": 'has no parameter "mst"; did you mean "most"?', "most": "is not NAME=VALUE",
                            "most=0": "the parameter most", "most=some": "the parameter most must be a number"}.items():
            self.assertIn(told, self.simulate(folder, "--param", given, code=2).stderr)
        self.assertIn("tidal is built in", self.simulate("tidal", "--param", "most=1", code=2).stderr)

    def test_a_comparison_hands_each_policy_file_the_parameters_that_it_has(self):
        folder = self.rule()
        other = self.example("deadline_first")
        jobs = self.folder / "jobs.csv"
        alone = json.loads(self.simulate(folder, "--param", "most=1").stdout)
        words = ["sim", "compare", "--workloads", jobs, "--cluster", "2x4", "-o", "json"]
        done = schedctl(*words, "--policies", f"tidal,{folder},{other}", "--param", "most=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = {run["policy"]: run["digest"] for run in json.loads(done.stdout)["runs"]}
        self.assertEqual(runs[str(folder)], alone["digest"])
        for policies, told in {f"tidal,{folder}": 'has no parameter "mst"; did you mean "most"?',
                               f"{other},{folder}": 'has no parameter "mst"', "tidal,las": "names none"}.items():
            refused = schedctl(*words, "--policies", policies, "--param", "mst=1")
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn(told, refused.stderr)

    def test_a_policy_file_that_is_bad_or_fails_its_tests_is_not_simulated(self):
        folder = self.rule()
        tests = folder / "tests" / "basic.yaml"
        text = tests.read_text()
        tests.write_text(text.replace("sizes: {large: 2", "sizes: {large: 3"))
        refused = self.simulate(folder, code=1)
        self.assertIn("1 of 2 tests fail; tests/basic.yaml", refused.stderr)
        self.assertIn("the size of large is 2, not 3", refused.stderr)
        self.assertIn("schedctl policy test", refused.stderr)
        tests.unlink()
        self.assertIn("note: my_rule has no tests", self.simulate(folder).stderr)
        self.rule("return {")
        self.assertIn("policy.syntax_error", self.simulate(folder, code=1).stderr)
        self.assertEqual(schedctl("sim", "run", "--policy", self.folder / "absent/").returncode, 2)

    def test_rounds_that_fail_in_a_simulation_are_counted_and_the_first_is_told(self):
        folder = self.rule("return {size = function(view) error('no idea') end}")
        (folder / "tests" / "basic.yaml").unlink()
        told = self.simulate(folder, code=1)
        self.assertIn("3 rounds were decided by tidal because my_rule failed; the first: policy.runtime_error",
                      told.stderr)
        self.assertIn("no idea", told.stderr)
        self.assertIn("after 3 in a row it was rolled back", told.stderr)
        self.assertEqual(json.loads(told.stdout)["completed"], 8)  # the figures are there all the same

    def test_the_hooks_about_tenants_and_pools_are_asked_in_a_simulation(self):
        pool = ("--pool", "slots=4,max=3,lead=1m,worth=2,price=1")
        spare_node = self.example("spare_node")
        spare = self.simulate(spare_node, *pool)
        usual = self.simulate("tidal", *pool)
        self.assertNotEqual(json.loads(spare.stdout)["digest"], json.loads(usual.stdout)["digest"])
        both = self.simulate(spare_node, *pool, "--provision", "threshold:60s", code=2)
        self.assertIn("has the hook provision", both.stderr)
        unshared = self.simulate(self.rule(), "--split", 2)
        self.assertIn("has no hook share", unshared.stderr)
        self.assertNotIn("has no hook share", self.simulate(self.example("tenant_priority"), "--split", 2).stderr)

    def test_all_that_is_wrong_in_a_manifest_is_told_with_its_line(self):
        self.write("p/policy.lua", "return {size = function() return {} end}")
        self.write("p/policy.yaml", "name: p\nengine: wasm\nparams:\n  most: {default: 5, max: 4}\nbudget: {}\n")
        refused = schedctl("policy", "validate", self.folder / "p")
        self.assertEqual(refused.returncode, 2)
        for line in ("policy.yaml line 2, /engine: ", "policy.yaml line 4, /params/most/default: ",
                     "policy.yaml line 5, /budget: "):
            self.assertIn(line, refused.stderr)

    def test_a_fault_in_a_test_names_the_job_as_the_test_does(self):
        folder = self.folder / "p"
        self.assertEqual(schedctl("policy", "new", folder).returncode, 0)
        (folder / "policy.lua").write_text(
            "return {size = function(view) local s = {} for i = 1, view.n do s[i] = 99 end return s end}")
        result = schedctl("policy", "test", folder)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("policy.invalid_size (size, large): ", result.stdout)
        self.assertNotIn("job-1", result.stdout)

    def test_a_library_that_cannot_be_loaded_says_what_to_do(self):
        self.write("p/policy.yaml", "engine: native\n")
        self.write("p/policy.so", "no library")
        result = schedctl("policy", "validate", self.folder / "p")
        self.assertEqual(result.returncode, 1)
        self.assertIn("policy.so is no shared library for this machine (", result.stderr)
        self.assertIn("build it anew here: c++ ", result.stderr)
        self.assertNotIn("/proc/", result.stderr)


if __name__ == "__main__":
    unittest.main()
