#include "studies/replay/replay_account.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/codec/reason_numbers.hpp"
#include "core/explain/explain.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "studies/replay/known_types.hpp"

namespace tidepool::sim {
namespace {

namespace cluster = policies::cluster;

constexpr std::int64_t kStepBudget = 100'000'000;  // a round; reached by no policy that is sound

}  // namespace

Instant instant_of(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

void ReplayAccount::add(const std::string& name, const std::string& application, double submitted_s) {
  Job& job = jobs_.emplace_back();
  job.row.id = job.report.id = JobId(jobs_.size());
  job.row.submitted = instant_of(submitted_s);
  job.report.name = name;
  job.report.application = application;
  job.report.submitted_s = submitted_s;
}

void ReplayAccount::held(std::size_t job, double seconds) {
  Job& held = jobs_[job];
  held.row.held += Duration::from_seconds(seconds);
  held.row.slot_seconds += seconds * size_of(held.row.placement);
  held.report.slot_seconds = held.row.slot_seconds;
}

void ReplayAccount::finished(std::size_t job, double at_s) {
  Job& ended = jobs_[job];
  ended.ended = true;
  ++ended_count_;
  ended.row.placement.clear();
  ended_.push_back(ended.row.slot_seconds);
  ended.report.finished_s = at_s;
  ended.report.hold(at_s, 0);
  ended.report.state = core::JobState::kSucceeded;
}

cluster::View ReplayAccount::view(double now_s) {
  cluster::View view{.now = instant_of(now_s),
                     .nodes = setup_.nodes,
                     .jobs = {},
                     .types = setup_.types,
                     .mark = mark_,
                     .ended_slot_seconds = ended_,
                     .explained = setup_.keep_decisions};
  std::erase_if(shown_, [&](std::size_t job) { return jobs_[job].ended; });
  view.jobs.reserve(shown_.size());
  for (const std::size_t job : shown_) view.jobs.push_back(jobs_[job].row);
  return view;
}

Result<ReplayAccount::Decision> ReplayAccount::decide(double now_s) {
  if (setup_.on_progress) {
    setup_.on_progress({.now = Duration::from_seconds(now_s), .ended = ended_count_, .jobs = jobs_.size()});
  }
  const cluster::View view = this->view(now_s);
  Decision decision;
  if (view.jobs.empty()) return decision;
  core::StepBudget budget(kStepBudget);
  const std::int64_t begin = setup_.stopwatch_ns ? setup_.stopwatch_ns() : 0;
  const auto answer = ask_within_bounds(setup_.policy, setup_.place, view, budget);
  if (!answer) return answer.error();
  const auto& [allocation, placements] = *answer;
  TP_TRY(cluster::check_placements(view, allocation, placements));
  if (setup_.stopwatch_ns) decide_ns_.push_back(setup_.stopwatch_ns() - begin);
  if (allocation.bound > 0) gaps_.push_back((allocation.bound - allocation.worth) / allocation.bound);
  mark_ = allocation.mark;
  if (allocation.wake) decision.wake_s = (*allocation.wake - Instant()).to_seconds();
  for (std::size_t row = 0; row < placements.size(); ++row) {
    Job& job = jobs_[shown_[row]];
    const cluster::Grant& grant = allocation.grants[row];
    job.row.mark = grant.mark;
    if (grant.declined) {
      job.ended = true;
      ++ended_count_;
      job.report.state = core::JobState::kCancelled;
    }
    if (placements[row] == job.row.placement && !grant.declined) continue;
    note(now_s, job, grant, placements[row]);
    move(job, now_s, placements[row]);
    decision.moved.push_back(shown_[row]);
  }
  decisions_ += decision.moved.empty() ? 0 : 1;
  return decision;
}

void ReplayAccount::note(double now_s, const Job& job, const cluster::Grant& grant,
                         const cluster::Placement& placement) {
  digest_.mix(static_cast<std::uint64_t>(instant_of(now_s).count_us())).mix(job.row.id.number()).mix(placement.size());
  digest_.mix(grant.declined ? 1U : 0U);
  for (const cluster::Share& share : placement) {
    digest_.mix(static_cast<std::uint64_t>(share.node)).mix(static_cast<std::uint64_t>(share.slots));
  }
  if (!setup_.keep_decisions) return;
  nlohmann::ordered_json line{{"at_s", now_s}, {"job", job.report.name}, {"name", job.report.name}};
  line["from"] = size_of(job.row.placement);
  line["to"] = grant.size;
  if (grant.type >= 0 && grant.size > 0) line["type"] = setup_.types[static_cast<std::size_t>(grant.type)].name;
  if (grant.declined) line["declined"] = true;
  line["nodes"] = nlohmann::ordered_json::array();
  for (const cluster::Share& share : placement) line["nodes"].push_back({share.node, share.slots});
  line["reason"] = core::name_of(grant.reason);
  for (const core::ReasonNumber& number : core::numbers_of(grant.reason)) line["numbers"][number.name] = number.value;
  line["why"] = core::sentence(grant.reason);
  if (!grant.lost.empty()) {
    const core::Alternative& best = grant.lost.front();
    line["score"] = grant.score;
    line["lost"] = {{"size", best.size}, {"score", best.score}, {"why", core::sentence(best.reason)}};
  }
  lines_.push_back(line.dump());
}

void ReplayAccount::move(Job& job, double now_s, const cluster::Placement& placement) {
  const bool held = !job.row.placement.empty();
  if (held && placement.empty()) ++job.report.preemptions;
  if (held && !placement.empty()) ++job.report.resizes;
  if (!placement.empty() && job.report.started_s) ++job.row.resizes;
  if (!placement.empty() && !job.report.started_s) job.report.started_s = now_s;
  if (!job.ended) job.report.state = placement.empty() ? core::JobState::kSuspended : core::JobState::kRunning;
  job.row.placement = placement;
  job.report.hold(now_s, size_of(placement));
}

SimResult ReplayAccount::result(double now_s) {
  SimResult result;
  result.complete = all_ended();
  for (Job& job : jobs_) result.rows.push_back(std::move(job.report));
  result.decisions = decisions_;
  result.decide_ns = std::move(decide_ns_);
  result.gaps = std::move(gaps_);
  result.decision_lines = std::move(lines_);
  result.digest = digest_.value();
  result.end = Duration::from_seconds(now_s);
  return result;
}

}  // namespace tidepool::sim
