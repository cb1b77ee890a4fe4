#include "schedulerd/leader/state_moves.hpp"

#include <algorithm>
#include <utility>

#include "base/first_after.hpp"
#include "core/state/state_move.hpp"
#include "schedulerd/leader/report_facts.hpp"

namespace tidepool::leader {
namespace {

const core::StateMove* move_of(const core::ClusterState& state, JobId id) {
  const core::Job* job = state.find_job(id);
  return job != nullptr && job->recovery.moving ? &*job->recovery.moving : nullptr;
}

// Null: the report is of a move that is over, or of another.
const core::StateMove* awaited_by(NodeId node, const auto& report, const core::ClusterState& state) {
  const core::StateMove* move = move_of(state, report.job);
  return move != nullptr && move->to == node && move->step == report.step ? move : nullptr;
}

Duration limit_of(const core::Job& job) {
  const core::SavedState* kept = core::newest_kept(job);
  return core::longest_move(kept == nullptr ? 0 : kept->bytes);
}

}  // namespace

StateMoves::StateMoves(const core::ClusterState& state) {
  for (const auto& [id, job] : state.jobs) watch(*job);
}

void StateMoves::watch(const core::Job& job) {
  if (job.recovery.moving) until_[job.id] = job.recovery.moving->since + limit_of(job);
}

void StateMoves::follow(const std::vector<JobId>& starting, const core::ClusterState& state) {
  for (const JobId id : starting) {
    if (const core::Job* job = state.find_job(id)) watch(*job);
  }
}

StateMoves::Outcome StateMoves::on(const StateReportItem& item, const core::ClusterState& state) {
  return std::visit([&](const auto& report) { return on(item.node, report, state); }, item.report);
}

StateMoves::Outcome StateMoves::on(NodeId node, const api::StateWantedReport& report, const core::ClusterState& state) {
  const core::StateMove* move = awaited_by(node, report, state);
  const auto refused = [&](std::string why, bool is_final) -> Outcome {
    return {.fact = {},
            .orders = {{node, api::NoState{
                                  .job = report.job, .step = report.step, .why = std::move(why), .final = is_final}}}};
  };
  if (move == nullptr) return refused("the job waits for no such state", true);
  const core::Node* source = state.find_node(move->from);
  if (source == nullptr || source->state != core::NodeState::kUp) {
    return refused(move->from.text() + ", where it lies, is away", false);
  }
  if (!source->moves_states) {
    return refused("the agent of " + move->from.text() + " is of a version that moves none", true);
  }
  std::erase_if(requests_, [&](const auto& entry) { return entry.second.job == report.job; });
  const std::uint64_t request = next_request_++;
  requests_.emplace(request, Request{report.job, *move});
  return {.fact = {},
          .orders = {{move->from,
                      api::OfferState{.request = request, .job = report.job, .step = report.step, .key = report.key}}}};
}

// None: it is not open, another node answers it, or its move is over.
std::optional<StateMoves::Request> StateMoves::take(std::uint64_t number, NodeId from,
                                                    const core::ClusterState& state) {
  const auto found = requests_.find(number);
  if (found == requests_.end() || found->second.move.from != from) return std::nullopt;
  Request request = std::move(requests_.extract(found).mapped());
  const core::StateMove* move = move_of(state, request.job);
  return move != nullptr && *move == request.move ? std::optional(request) : std::nullopt;
}

StateMoves::Outcome StateMoves::on(NodeId node, const api::StateOfferedReport& report,
                                   const core::ClusterState& state) {
  const auto request = take(report.request, node, state);
  if (!request) return {};
  return {.fact = {},
          .orders = {{request->move.to, api::FetchState{.job = request->job,
                                                        .step = request->move.step,
                                                        .ticket = report.ticket,
                                                        .host = report.host,
                                                        .port = report.port,
                                                        .key = report.key}}}};
}

StateMoves::Outcome StateMoves::on(NodeId node, const api::StateRefusedReport& report,
                                   const core::ClusterState& state) {
  const auto request = take(report.request, node, state);
  if (!request) return {};
  const std::string why = request->move.from.text() + " cannot hand it over: " + told(report.why);
  return {.fact = {},
          .orders = {{request->move.to,
                      api::NoState{.job = request->job, .step = request->move.step, .why = why, .final = false}}}};
}

StateMoves::Outcome StateMoves::on(NodeId node, const api::StateBroughtReport& report,
                                   const core::ClusterState& state) {
  if (awaited_by(node, report, state) == nullptr) return {};
  return {.fact = core::StateBrought{.job = report.job,
                                     .node = node,
                                     .step = report.step,
                                     .bytes = report.bytes,
                                     .took = Duration::millis(report.took_ms)},
          .orders = {}};
}

StateMoves::Outcome StateMoves::on(NodeId node, const api::StateLeftReport& report, const core::ClusterState& state) {
  if (awaited_by(node, report, state) == nullptr) return {};
  return {.fact = core::StateLeft{.job = report.job, .node = node, .step = report.step, .why = told(report.why)},
          .orders = {}};
}

std::vector<StateMoves::Outcome> StateMoves::overdue(Instant now, const core::ClusterState& state) {
  std::vector<Outcome> outcomes;
  std::erase_if(until_, [&](const auto& entry) {
    if (entry.second > now) return false;
    const core::StateMove* move = move_of(state, entry.first);
    if (move == nullptr) return true;
    const Duration limit = limit_of(*state.find_job(entry.first));
    if (move->since + limit > now) return true;  // a later one, which is watched from its own decision on
    const std::string why = "it has not come within " + to_text(limit);
    outcomes.push_back(
        {.fact = core::StateLeft{entry.first, move->to, move->step, why},
         .orders = {{move->to, api::NoState{.job = entry.first, .step = move->step, .why = why, .final = true}}}});
    return true;
  });
  return outcomes;
}

std::optional<Instant> StateMoves::next_due() const {
  FirstAfter first;
  for (const auto& [job, until] : until_) first.consider(until);
  return first.found();
}

}  // namespace tidepool::leader
