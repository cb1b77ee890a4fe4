// What /metrics counts of what happens: each series what its name says.
#include "schedulerd/live/http/metrics.hpp"

#include <catch2/catch.hpp>

#include "base/version.hpp"
#include "core/state/tenant_jobs.hpp"
#include "schedulerd/live/http/numbers/certificate_ends.hpp"

namespace tidepool::live::http {
namespace {

core::Event event_of(std::string type, nlohmann::json data) {
  core::Event event;
  event.type = std::move(type);
  event.job = JobId(1);
  event.data = std::move(data);
  return event;
}

bool says(Metrics& metrics, const std::string& line, const Published& seen = {}) {
  const std::string text = metrics.text(seen, false, nullptr);
  INFO(text);
  return text.find(line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a worker that is drained or moved is no straggler that was replaced") {
  Metrics metrics;
  metrics.observe_events({event_of("worker.replaced", {{"worker", "w-1"}, {"by", "w-3"}, {"straggler", false}}),
                          event_of("worker.replaced", {{"worker", "w-2"}, {"by", "w-4"}, {"straggler", false}})});
  CHECK(says(metrics, "sched_stragglers_replaced_total 0"));
  metrics.observe_events({event_of("worker.replaced", {{"worker", "w-3"}, {"by", "w-5"}, {"straggler", true}})});
  CHECK(says(metrics, "sched_stragglers_replaced_total 1"));
}

TEST_CASE("each checkpoint that could not be taken counts once, whether an event tells of it or not") {
  Metrics metrics;
  CHECK(says(metrics, "sched_checkpoint_failures_total 0"));
  metrics.count_checkpoint_failures(3);
  metrics.observe_events(
      {event_of("job.checkpoint_failed", {{"times", 1}}), event_of("job.checkpoint_failed", {{"times", 2}})});
  CHECK(says(metrics, "sched_checkpoint_failures_total 3"));
}

TEST_CASE("sound audits of which no event of their own tells are counted with the next one, or with the job's end") {
  Metrics metrics;
  const auto audited = [](int used, int epochs) {
    return event_of("data.epoch_audited",
                    {{"checksum_ok", true}, {"expected", 600}, {"used", used}, {"epochs", epochs}});
  };
  metrics.observe_events({audited(600, 1), audited(600, 444), audited(599, 1)});
  CHECK(says(metrics, "sched_epoch_audits_total{outcome=\"exact\"} 445"));
  metrics.observe_events({event_of("job.finished", {{"state", "succeeded"}, {"epochs_untold", 103}})});
  CHECK(says(metrics, "sched_epoch_audits_total{outcome=\"exact\"} 548"));
  CHECK(says(metrics, "sched_epoch_audits_total{outcome=\"wrong\"} 1"));
}

TEST_CASE("a limit of jobs has a series beside how many jobs there are, at any level of the tree, and no other") {
  Metrics metrics;
  Published seen;
  seen.state.tenants = core::TenantTree{
      .tenants = {{.name = "lab", .jobs_max = 3}, {.name = "vision", .parent = "lab"}, {.name = "guests"}}};
  const core::TenantsByName& tree = *seen.state.tenants;
  core::add_job(seen.state.tenant_jobs, tree, "vision");
  core::add_job(seen.state.tenant_jobs, tree, "vision");
  CHECK(says(metrics, R"(sched_tenant_jobs{tenant="lab"} 2)", seen));
  CHECK(says(metrics, R"(sched_tenant_jobs_max{tenant="lab"} 3)", seen));
  CHECK_FALSE(says(metrics, R"(sched_tenant_jobs{tenant="vision"} 2)", seen));
  CHECK_FALSE(says(metrics, R"(sched_tenant_jobs{tenant="guests"} 0)", seen));
}

TEST_CASE("a job that was submitted before the daemon started has waited since then, one that ran does not wait") {
  core::ClusterState state;
  core::Job waits;
  waits.id = JobId(1);
  waits.submitted_at = Instant::from_micros(5'000'000);
  core::Job ran = waits;
  ran.id = JobId(2);
  ran.started_at = Instant::from_micros(6'000'000);
  state.jobs.emplace(waits.id, std::make_shared<const core::Job>(waits));
  state.jobs.emplace(ran.id, std::make_shared<const core::Job>(ran));
  Metrics metrics;
  metrics.begin(1'796'000'000, state);
  CHECK(says(metrics, "sched_start_time_seconds 1796000000"));
  core::Event started = event_of("job.started", {{"size", 1}});
  started.at = Instant::from_micros(45'000'000);
  core::Event other = started;
  other.job = JobId(2);
  metrics.observe_events({started, other, started});
  CHECK(says(metrics, "sched_wait_seconds_count 1"));
  CHECK(says(metrics, "sched_wait_seconds_sum 40"));
}

TEST_CASE("rounds that a policy fails are counted, and that it gave way, unless an operator has asked for it") {
  Metrics metrics;
  core::Event asked = event_of("policy.rolled_back", {{"policy", "mine"}});
  asked.actor = "t-1";
  const core::Event failed = event_of("policy.error", {{"policy", "mine"}, {"code", "policy.deadline"}});
  metrics.observe_events({failed, failed, asked});
  CHECK(says(metrics, "sched_policy_errors_total 2"));
  CHECK(says(metrics, "sched_policy_rollbacks_total 0"));
  metrics.observe_events({failed, event_of("policy.rolled_back", {{"policy", "mine"}})});
  CHECK(says(metrics, "sched_policy_errors_total 3"));
  CHECK(says(metrics, "sched_policy_rollbacks_total 1"));
}

TEST_CASE("the version that runs is a label") {
  Metrics metrics;
  CHECK(says(metrics, "sched_build_info{version=\"" + std::string(tidepool::kVersion) + "\"} 1"));
}

TEST_CASE("what the state takes and what its disk has left are told once they are known") {
  Metrics metrics;
  CHECK(metrics.text({}, false, nullptr).find("sched_state_free_bytes") == std::string::npos);
  metrics.set_state_room({.journal_bytes = 4096, .free_bytes = 8192});
  CHECK(says(metrics, "sched_journal_bytes 4096"));
  CHECK(says(metrics, "sched_state_free_bytes 8192"));
  metrics.set_state_room({.journal_bytes = 4096, .free_bytes = 0});
  CHECK(says(metrics, "sched_state_free_bytes 0"));
}

TEST_CASE("when certificates end is told by whose they are, and no longer once there is none") {
  Metrics metrics;
  metrics.set_certificate_ends({{"daemon", 1'800'000'000}, {"node", 1'797'000'000}});
  CHECK(says(metrics, "sched_certificate_end_seconds{of=\"daemon\"} 1800000000"));
  CHECK(says(metrics, "sched_certificate_end_seconds{of=\"node\"} 1797000000"));
  metrics.set_certificate_ends({{"daemon", 1'800'000'001}});
  CHECK(says(metrics, "sched_certificate_end_seconds{of=\"daemon\"} 1800000001"));
  CHECK(metrics.text({}, false, nullptr).find("of=\"node\"") == std::string::npos);
}

TEST_CASE("the certificate that ends first is that of a node that is up and was not revoked") {
  Published seen;
  seen.clock = {.unix_us_at_zero = 1'700'000'000'000'000};
  const auto known = [&](const char* name, std::uint64_t place, core::NodeState state) {
    core::Node node;
    node.id = NodeId(place);
    node.name = name;
    node.state = state;
    seen.state.nodes.emplace(node.id, node);
    NodeCredential credential;
    credential.node = name;
    credential.valid_until = Instant() + Duration::seconds(static_cast<std::int64_t>(place));
    return credential;
  };
  std::vector<NodeCredential> all = {known("away", 1, core::NodeState::kLost),
                                     known("revoked", 2, core::NodeState::kUp)};
  all[1].revoked_at = Instant();
  CHECK_FALSE(first_node_end(seen, all));
  all.push_back(known("b", 4, core::NodeState::kUp));
  all.push_back(known("a", 3, core::NodeState::kUp));
  CHECK(first_node_end(seen, all) == 1'700'000'003);
}

TEST_CASE("what is alerted on is there before it has happened") {
  Metrics metrics;
  CHECK(says(metrics, "sched_policy_errors_total 0"));
  CHECK(says(metrics, "sched_epoch_audits_total{outcome=\"wrong\"} 0"));
  CHECK(says(metrics, "sched_resizes_total{dir=\"down\"} 0"));
  CHECK(says(metrics, "sched_http_requests_total{class=\"5xx\"} 0"));
}

TEST_CASE("failures of a pool's provider are counted by kind, and other news of pools are none") {
  Metrics metrics;
  metrics.observe_events(
      {event_of("pool.create_failed", {{"pool", "gpu"}, {"fault", "quota"}}),
       event_of("pool.bill_runs_on", {{"pool", "gpu"}, {"attempts", 3}}),
       event_of("pool.node_released", {{"pool", "gpu"}, {"reason", {{"code", "NodeIdle"}}}}),
       event_of("pool.node_released", {{"pool", "gpu"}, {"reason", {{"code", "NodeNeverJoined"}}}})});
  CHECK(says(metrics, "sched_pool_failures_total{kind=\"create\",pool=\"gpu\"} 1"));
  CHECK(says(metrics, "sched_pool_failures_total{kind=\"bill_runs_on\",pool=\"gpu\"} 1"));
  CHECK(says(metrics, "sched_pool_failures_total{kind=\"never_joined\",pool=\"gpu\"} 1"));
}

TEST_CASE("nodes of pools are told by state, and of a pool that has left the state no more") {
  Metrics metrics;
  const auto told = [&](const core::ClusterState& state) {
    Published seen;
    seen.state = state;
    return metrics.text(seen, false, nullptr);
  };
  core::ClusterState state;
  state.pools.pools["gpu"].spec.name = "gpu";
  state.pools.nodes[1] = {.request = 1, .pool = "gpu", .name = "gpu-1", .state = core::PoolNodeState::kJoined};
  const std::string text = told(state);
  CHECK(text.find("sched_pool_nodes{pool=\"gpu\",state=\"joined\"} 1\n") != std::string::npos);
  CHECK(text.find("sched_pool_nodes{pool=\"gpu\",state=\"asked\"} 0\n") != std::string::npos);
  CHECK(text.find("sched_pool_failures_total{kind=\"bill_runs_on\",pool=\"gpu\"} 0\n") != std::string::npos);
  CHECK(told({}).find("sched_pool_nodes{") == std::string::npos);
}

}  // namespace tidepool::live::http
