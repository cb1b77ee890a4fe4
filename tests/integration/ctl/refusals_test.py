"""What schedctl refuses, because it would do something else than what was meant: exit 2, and nothing is asked for."""

import os
import sys
import unittest

sys.path.insert(0, os.environ["TIDEPOOL_SOURCE_DIR"])

from tests.support.schedctl_case import SchedctlCase, example, listed  # noqa: E402


class RefusalsTest(SchedctlCase):
    def refused(self, *args, words, **extra):
        code, out, err = self.run_ctl(*args, **extra)
        self.assertEqual((code, out), (2, ""), (args, err))
        self.assertIn(words, err, args)
        asked_for = [r for r in self.daemon.requests if r["method"] != "GET"]
        self.assertEqual(asked_for, [], args)

    def test_a_name_that_is_another_nodes_id(self):
        nodes = [{**example("node.json"), "id": "node-1", "name": "gpu-a"},
                 {**example("node.json"), "id": "node-2", "name": "node-1"}]
        self.daemon.routes["GET", "/v1/nodes"] = (200, listed(nodes))
        for command in (["drain"], ["cordon"], ["undrain"], ["node", "revoke"], ["node", "remove"],
                        ["node", "release-slots"]):
            self.refused(*command, "node-1", words="say gpu-a for the first, node-2 for the second")
        self.daemon.routes["POST", "/v1/nodes/node-1/cordon"] = (200, nodes[0])
        self.assertEqual(self.run_ctl("cordon", "gpu-a")[0], 0)

    def test_an_empty_word_that_would_widen_what_is_meant(self):
        at = ["--from", "2026-11-25T02:00", "--to", "2026-11-25T04:00"]
        for args in (["tenants", "apply", "tenants.yaml", "--yes", "--below", ""], ["tenants", "export", "--below", ""],
                     ["ls", "--name", ""], ["ls", "--tenant", ""], ["watch", "job-1", "--within", ""],
                     ["maintenance", "add", "n1", *at, "--lead", ""], ["maintenance", "add", "n1", *at, "--every", ""],
                     ["events", ""], ["events", "--type", ""], ["decisions", ""], ["usage", "--by", ""],
                     ["usage", "--window", ""], ["usage", "--from", ""], ["usage", "--to", ""],
                     ["node", "token", "create", "--name-prefix", ""], ["policy", "rollback", ""]):
            self.refused(*args, words="must not be empty")
            self.assertEqual(self.daemon.requests, [], args)

    def test_a_number_that_would_be_read_to_base_8(self):
        self.daemon.routes["POST", "/v1/jobs/job-1/resize"] = (200, example("job.json"))
        for number in ("010", "-01", "00"):
            self.refused("resize", "job-1", number, words=f'must have no 0 before its first digit, not "{number}"')
        self.assertEqual(self.run_ctl("resize", "job-1", "0")[0], 0)

    def test_login_with_an_authority_of_which_nothing_is_read(self):
        (self.folder / "empty.pem").write_text("")
        login = ["login", "--url", "https://127.0.0.1:1", "--token", "t"]
        for given in ("empty.pem", "."):
            self.refused(*login, "--ca", given, words=f"the authority {given} cannot be read or is empty")
        self.refused(*login, "--fingerprint", "", words="must not be empty")

    def test_a_token_that_would_cross_the_network_in_clear(self):
        for token in (["--token", "t"], []):
            self.refused("ls", "--url", "http://192.0.2.1:7480", *token, words="in clear to http://192.0.2.1:7480",
                         TIDEPOOL_TOKEN="t")

    def test_options_of_which_one_would_be_ignored(self):
        (self.folder / "job.yaml").write_text("run: {trainer: mlp}\n")
        for args, words in [
                (["policy", "shadow", "p", "--report", "--stop"], "excludes"),
                (["policy", "shadow", "p", "--stop", "--version", "abcdef"], "excludes"),
                (["policy", "shadow", "p", "--report", "--param", "most=4"], "excludes"),
                (["submit", "--dry-run", "--wait", "job.yaml"], "excludes"),
                (["usage", "--csv", "-o", "json"], "give one of them"),
                (["usage", "--by", "job", "--csv", "-o", "yaml"], "give one of them"),
                (["trace", "job-1", "-o", "yaml"], "a trace is JSON"),
                (["policy", "store", "capped"], "capped is no .lua file, .so library or folder here")]:
            self.refused(*args, words=words)


if __name__ == "__main__":
    unittest.main()
