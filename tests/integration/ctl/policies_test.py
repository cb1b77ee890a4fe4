"""What schedctl says of policy files that a daemon has."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.environ["TIDEPOOL_SOURCE_DIR"])

from tests.support.schedctl_case import SchedctlCase, event, listed  # noqa: E402


class PoliciesTest(SchedctlCase):
    def test_rounds_of_a_policy_that_failed_are_counted(self):
        status = {"builtin": "tidal", "active": {"name": "capped", "version": "0123456789ab"}, "earlier": [],
                  "shadow": None, "failures": 1, "warnings": []}
        self.daemon.routes["GET", "/v1/policies/status"] = (200, status)
        self.daemon.routes["GET", "/v1/events"] = (200, listed([]))
        self.assertIn("\n1 round failed; see: schedctl events\n", self.run_ctl("policy", "status")[1])
        status["failures"] = 2
        self.assertIn("\n2 rounds in a row failed; see", self.run_ctl("policy", "status")[1])

    def test_the_error_of_the_newest_failed_round_is_shown_with_the_policy_that_decides(self):
        status = {"builtin": "tidal", "active": {"name": "capped", "version": "0123456789ab"}, "earlier": [],
                  "shadow": {"name": "next", "version": "0123456789ab"}, "failures": 1, "warnings": []}
        said = event(7, "policy.error", policy="capped", error="policy.invalid_size (size, job-1): 9 is not a size")
        self.daemon.routes["GET", "/v1/policies/status"] = (200, status)
        self.daemon.routes["GET", "/v1/events"] = lambda request: (
            200, listed([said] if request["query"].find("policy.error") >= 0 else []))
        self.assertIn("\n1 round failed; see: schedctl events\nthe last: policy.invalid_size (size, job-1): 9 is not a "
                      "size\nshadow: next", self.run_ctl("policy", "status")[1])
        said["data"]["policy"] = "another"
        self.assertNotIn("the last:", self.run_ctl("policy", "status")[1])

    def test_a_policy_is_named_with_the_parameters_that_were_given(self):
        def deployed(**params):
            return {"name": "capped", "version": "0123456789abcdef", "params": params}

        status = {"builtin": "tidal", "active": deployed(most=8, tier="2"), "earlier": [deployed(most=4), deployed()],
                  "shadow": deployed(), "failures": 0, "warnings": []}
        self.daemon.routes["GET", "/v1/policies/status"] = (200, status)
        self.daemon.routes["GET", "/v1/events"] = (200, listed([]))
        self.assertEqual(self.run_ctl("policy", "status")[1],
                         'capped, version 0123456789ab with most=8, tier="2" decides\n'
                         "a rollback goes back to capped, version 0123456789ab with most=4\n"
                         "shadow: capped, version 0123456789ab\n")

    def test_a_shadow_is_named_by_the_path_of_its_file_too(self):
        path = self.folder / "capped.lua"
        path.write_text("return {}\n")
        report = {"name": "capped", "rounds": 0, "faults": {}, "last_fault": None, "pools": [], "differences": []}
        self.daemon.routes["GET", "/v1/policies/capped/shadow-report"] = (200, report)
        self.daemon.routes["POST", "/v1/policies/capped/shadow"] = (200, {})
        self.assertEqual(self.run_ctl("policy", "shadow", str(path), "--report"),
                         (0, "no round has been compared yet\n", ""))
        self.assertEqual(self.run_ctl("policy", "shadow", str(path), "--stop"),
                         (0, "capped no longer runs as a shadow\n", ""))

    def test_a_parameter_in_quotes_is_a_text_whatever_it_looks_like(self):
        status = {"builtin": "tidal", "active": {"name": "tiers", "version": "0123456789ab"}, "earlier": [],
                  "shadow": None, "failures": 0, "warnings": []}
        self.daemon.routes["POST", "/v1/policies/tiers/activate"] = (200, status)
        words = ["--param", 'tier="2"', "--param", "most=2", "--param", "mode=fair"]
        self.assertEqual(self.run_ctl("policy", "activate", "tiers", *words)[0], 0)
        [request] = self.daemon.sent("POST", "/v1/policies/tiers/activate")
        self.assertEqual(json.loads(request["body"])["params"], {"tier": "2", "most": 2, "mode": "fair"})


if __name__ == "__main__":
    unittest.main()
