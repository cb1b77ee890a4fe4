"""Workers of one job on several hosts: they meet at their nodes' data addresses, are added, taken away and killed, and
the samples stay exact.
"""

import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from hosts import BIN, kernel_form  # noqa: E402
from job_over_hosts import HostsCase, Watch, main  # noqa: E402

ELASTIC_WORKER = os.environ["TIDEPOOL_TEST_PROGRAMS"] + "/elastic_worker"


class HostsTest(HostsCase):
    def test_a_job_on_two_hosts_is_resized_and_survives_the_deaths_of_worker_and_agent(self):
        cluster = self.open(hosts=2, slots=2)
        self.assertEqual([self.nodes(cluster)[name]["data_address"] for name in ("host1", "host2")],
                         ["10.77.0.2", "10.77.0.3"])
        watch = Watch(cluster, (1, 2))
        watch.start()
        job = self.submit(cluster, 3, 6000)
        self.wait_steps(cluster, job, 3, 50)
        self.assertTrue(cluster.workers(1) and cluster.workers(2), "three workers need both hosts")
        here, there = kernel_form("10.77.0.2"), kernel_form("10.77.0.3")
        self.assertIn((here, there, False), cluster.network.sockets(1), "no connection across")

        cluster.resize(job, 4)
        self.wait_steps(cluster, job, 4, 50)
        os.kill(cluster.workers(2)[0], signal.SIGKILL)
        self.wait_for(cluster, "the loss of a worker", lambda: cluster.events("worker.lost"))
        self.wait_steps(cluster, job, 4, 50)  # another one in its place
        self.kill_agent(cluster, 2)
        self.wait_steps(cluster, job, 4, 50)

        cluster.resize(job, 2)
        self.wait_steps(cluster, job, 2, 50)
        self.check_end(cluster, job, 6000)
        watch.end(self)
        self.assertEqual(watch.listened, {1: {here}, 2: {there}}, "they listen on their data address alone")
        switched = [event["data"] for event in cluster.events("generation.switched")]
        self.assertLessEqual(max(event["steps_redone"] for event in switched), 1, "beside the one in flight")

    def test_workers_of_two_hosts_meet_over_ipv6(self):
        cluster = self.open(hosts=2, slots=1, ipv6=True)
        self.assertEqual({node["data_address"] for node in self.nodes(cluster).values()}, {"fd77::2", "fd77::3"})
        job = self.submit(cluster, 2, 400, most=2)
        self.check_end(cluster, job, 400)
        self.assertTrue(all(event["data"]["to_size"] == 2 for event in cluster.events("generation.switched")))

    def test_a_worker_that_leads_its_peers_to_another_address_is_ended_by_its_agent(self):
        cluster = self.open(hosts=2, slots=1)
        cluster.submit({
            "name": "elsewhere", "run": {"command": ["/usr/bin/env", "TIDEPOOL_DATA_ADDRESS=fd77::2", ELASTIC_WORKER]},
            "elastic": {"min": 2, "max": 2}, "batch": {"global": 10}, "scaling": {"policy": "fixed"}})
        told = "where the other workers are to meet it, but fd77::2 is not this node's data address 10.77.0.2"
        self.wait_for(cluster, "the agent's word", lambda: told in cluster.agent_log(1))
        self.wait_for(cluster, "its end", lambda: any(
            event["data"].get("signal") == 9 for event in cluster.events("worker.lost")))

    def test_an_agent_says_at_its_start_which_data_address_is_none(self):
        cluster = self.open(hosts=1, slots=1)
        state = cluster.folder / "state"
        for wrong, words in (("eth9", 'no interface "eth9" is up'),
                             ("10.99.0.0/16", "no address of this machine is in"),
                             ("10.77.0.1", "10.77.0.1 is no address of this machine"), ("0.0.0.0/0", "several")):
            with self.subTest(wrong=wrong):
                done = subprocess.run(
                    [*cluster.network.inside(1), str(BIN / "agentd"), "--daemon", "10.77.0.1:7481", "--ca",
                     str(state / "tls/ca.pem"), "--token-file", str(state / "agent.token"),
                     "--state-dir", str(cluster.folder / "wrong"), "--slots", "1", "--data-address", wrong],
                    capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
                self.assertIn("10.77.0.2 (hosts0)", done.stderr)


if __name__ == "__main__":
    sys.exit(main())
