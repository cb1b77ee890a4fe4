#include "tests/support/modelled_node.hpp"

#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "tests/support/loop_messages.hpp"

namespace tidepool::test {
namespace {

constexpr int kNode = 0;  // there is one

// Twenty seconds of work on one slot.
const sim::GroundTruth& truth_of_any_job(const std::string& /*name*/) {
  static const sim::GroundTruth truth{.curve = {.lambda = 640, .sigma = 0.1, .kappa = 0.01},
                                      .work_samples = 12'800,
                                      .global_batch = 64,
                                      .boot = Duration::millis(100),
                                      .switch_stall = Duration::millis(20),
                                      .park = Duration::millis(50)};
  return truth;
}

Instant time_on(ManualClock& clock) {
  return Instant::from_micros(clock.read().boottime_us);
}

}  // namespace

ModelledNode::ModelledNode(ManualClock& clock) : clock_(clock), now_(time_on(clock)), fleet_(fleet_setup()) {
  fleet_.boot(now_);
}

sim::Fleet::Setup ModelledNode::fleet_setup() {
  return {.cluster = {.nodes = 1, .slots_per_node = 4, .slot_type = "cpu"},
          .report_every = Duration::millis(500),
          .report_steps_max = 64,
          .compute_times = true,
          .truth_of = truth_of_any_job,
          .later = [this](Instant at, sim::FleetEvent event) { heap_.push(at, event); },
          .to_daemon =
              [this](int /*node*/, sim::Incoming message) {
                if (connected_) said_.push_back(std::move(message));
              },
          .open_link = [this](int /*node*/) { link_wanted_ = true; },
          .close_link = [this](int /*node*/) { disconnect(); },
          .held = {}};
}

void ModelledNode::post(std::vector<live::OutboxItem> items) {
  std::move(items.begin(), items.end(), std::back_inserter(posted_));
}

void ModelledNode::deliver() {
  for (sim::Outgoing& message : messages_to_nodes(std::exchange(posted_, {}), ids_)) {
    api::DaemonToAgent& order = std::get<sim::ToNode>(message).message;
    const bool answers =
        std::holds_alternative<api::AgentWelcome>(order) || std::holds_alternative<api::AgentRefuse>(order);
    answered_ = answered_ || answers;
    if (!connected_ || !answered_) continue;
    if (const auto* start = std::get_if<api::StartWorker>(&order)) started_.push_back(start->worker);
    fleet_.receive(kNode, std::move(order), now_);
  }
}

void ModelledNode::disconnect() {
  posted_.clear();
  said_.clear();
  answered_ = false;
  if (std::exchange(connected_, false)) fleet_.link_closed(kNode, now_);
}

live::AgentHelloItem ModelledNode::hello() {
  disconnect();
  catch_up();
  TP_CHECK(link_wanted_, "an agent without a link wants one");
  link_wanted_ = false;
  connected_ = true;
  fleet_.link_opened(kNode, now_);
  return std::get<live::AgentHelloItem>(take());
}

std::optional<live::InboxItem> ModelledNode::next_report(Rng& rng) {
  catch_up();
  if (rng.chance(0.02)) {
    fleet_.break_something({.kind = sim::FaultKind::kWorkerDeath, .which = rng.below(1'000)}, now_);
  }
  if (said_.empty()) return std::nullopt;
  return take();
}

live::InboxItem ModelledNode::take() {
  TP_CHECK(!said_.empty(), "the agent has said something");
  const sim::Incoming said = std::move(said_.front());
  said_.pop_front();
  return inbox_item(said, ids_, {});
}

void ModelledNode::catch_up() {
  const Instant until = time_on(clock_);
  while (!heap_.empty() && heap_.next_at() <= until) {
    now_ = heap_.next_at();
    fleet_.happen(heap_.pop(), now_);
  }
  now_ = until;
}

}  // namespace tidepool::test
