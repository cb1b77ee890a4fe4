// What /metrics counts of what happens: each series what its name says.
#include "schedulerd/live/http/metrics.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live::http {
namespace {

core::Event event_of(std::string type, nlohmann::json data) {
  core::Event event;
  event.type = std::move(type);
  event.job = JobId(1);
  event.data = std::move(data);
  return event;
}

bool says(Metrics& metrics, const std::string& line) {
  const std::string text = metrics.text(Published(), false, nullptr);
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

}  // namespace tidepool::live::http
