"""What schedctl says when its request does not come to a daemon at all: what was in the way, and what to do."""

import contextlib
import os
import socket
import sys
import unittest

sys.path.insert(0, os.environ["TIDEPOOL_SOURCE_DIR"])

from tests.support.schedctl_case import SchedctlCase, listed  # noqa: E402

VARIABLES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


class UnreachableTest(SchedctlCase):
    def by_proxy(self, variable, proxy):
        """What is said of a daemon on another host; the whole way is on loopback."""
        away = {**dict.fromkeys(VARIABLES, ""), "no_proxy": "", "NO_PROXY": "", variable: proxy}
        code, out, err = self.run_ctl("ls", TIDEPOOL_URL="https://192.0.2.1:7480", TIDEPOOL_TOKEN="t", **away)
        self.assertEqual((code, out), (5, ""))
        return " ".join(err.split())

    def test_a_proxy_that_does_not_lead_to_the_daemon_is_named_without_its_password(self):
        for variable in VARIABLES:
            err = self.by_proxy(variable, "http://me:secret@127.0.0.1:1")
            self.assertIn(f"https://192.0.2.1:7480 through the proxy that {variable} names (127.0.0.1): ", err)
            self.assertIn("add 192.0.2.1 to no_proxy", err)
            self.assertNotIn("secret", err)

    def test_a_proxy_that_refuses_is_named(self):
        err = self.by_proxy("https_proxy", self.daemon.url)  # knows no CONNECT
        self.assertIn("through the proxy that https_proxy names (127.0.0.1): ", err)
        self.assertIn("501", err)

    def test_loopback_is_reached_without_a_proxy(self):
        self.daemon.routes["GET", "/v1/jobs"] = (200, listed([]))
        self.assertEqual(self.run_ctl("ls", http_proxy="http://127.0.0.1:1")[0], 0)

    def test_a_daemon_on_loopback_that_is_down_is_not_blamed_on_a_proxy(self):
        code, _, err = self.run_ctl("ls", http_proxy="http://127.0.0.1:3128", TIDEPOOL_URL="http://127.0.0.1:1",
                                    TIDEPOOL_TOKEN="t")
        self.assertEqual(code, 5)
        self.assertNotIn("proxy", err)
        self.assertIn("no daemon answers at http://127.0.0.1:1", " ".join(err.split()))

    def test_a_host_that_takes_no_connection_is_no_daemon_that_is_slow(self):
        with contextlib.ExitStack() as open_now:
            full = open_now.enter_context(socket.socket())
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            taken = True
            while taken:  # until the kernel drops what comes
                each = open_now.enter_context(socket.socket())
                each.settimeout(0.5)
                try:
                    each.connect(full.getsockname())
                except OSError:
                    taken = False
            url = "https://127.0.0.1:%d" % full.getsockname()[1]
            code, _, err = self.run_ctl("ls", "--timeout", "1", TIDEPOOL_URL=url, TIDEPOOL_TOKEN="t")
        self.assertEqual(code, 5)
        self.assertIn(f"no daemon answers at {url}; check that it runs, its address and its port, and that no firewall "
                      "is between", " ".join(err.split()))


if __name__ == "__main__":
    unittest.main()
