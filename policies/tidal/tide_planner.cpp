#include "policies/tidal/tide_planner.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "policies/cluster/reach.hpp"
#include "policies/tidal/reasons.hpp"
#include "policies/tidal/tidal.hpp"
#include "schedulerd/core/membership.hpp"
#include "schedulerd/core/plan_grounds.hpp"
#include "schedulerd/core/queue_planner.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::Share;
using core::PlanPart;
using core::Reason;
using core::ReasonCode;

constexpr std::size_t kAlternativesMax = 4;
constexpr std::int64_t kStepsMost = 50'000'000;  // of one settlement

void make_finite(Reason& reason) {
  for (core::ReasonNumber& number : reason.numbers) {
    if (!std::isfinite(number.value)) number.value = 0;
  }
}

// What a bid is made of the row as of: a job that holds slots was read at its newest fact.
Instant read_at(const core::Job& job, const JobRow& row, Instant now) {
  return row.placement.empty() ? now : job.charged_until;
}

}  // namespace

TidePlanner::TidePlanner(const Settings& settings)
    : settings_(settings),
      whole_(cluster::planner_of(std::make_shared<const Tidal>(settings), cluster::RowStyle::kExperiments)),
      rows_(cluster::RowStyle::kExperiments) {}

void TidePlanner::follow(const core::ClusterState& state, JobId id) {
  const core::Job& job = *state.find_job(id);
  const bool is_particular = job.spec.gpus_per_worker > 1 || job.spec.deadline || !job.spec.slot_types.empty();
  if (is_particular && !core::is_final(job.state)) {
    particular_.insert(id);
  } else {
    particular_.erase(id);
  }
  whole_->follow(state, id);
  followed_.insert(id);
}

Result<core::PlanAnswer> TidePlanner::plan(const core::PlanRequest& request, core::StepBudget& budget) {
  if (!particular_.empty()) {
    tide_.reset();
    return whole_->plan(request, budget);
  }
  look_at_nodes(request);
  std::set<JobId> jobs = stale(request);
  read(request, jobs);
  // What a row says depends on how much there is; so does the price that every job reckons with.
  if (room() != bid_room_) {
    bid_room_ = room();
    for (const auto& [id, part] : parts_) jobs.insert(id);
    tide_->set_ground({.slots = std::max(0, room()), .slots_per_node = slots_per_node_, .now = request.view.now});
  }
  bid(request, jobs);
  // What is counted follows from the state, as the answer does; the work itself depends on what was kept.
  budget.spend(1 + static_cast<std::int64_t>(request.looked_at.size()));
  core::StepBudget own(kStepsMost);
  const Market::Settlement settled = tide_->settle(request.view.now, own);
  unbooked_.insert(jobs.begin(), jobs.end());
  unbooked_.insert(settled.changed.begin(), settled.changed.end());
  // Whose bid is the next to be served is told so; that may have been another before.
  if (next_in_line_) unbooked_.insert(next_in_line_);
  next_in_line_ = tide_->market().next_bidder();
  if (next_in_line_) unbooked_.insert(next_in_line_);

  const Terms terms = terms_of(tide_->market(), static_cast<double>(settled.free));
  core::PlanAnswer answer{.allotments = {}, .whole = false, .mark = {}, .wake = {}};
  for (const JobId id : unbooked_) {
    if (!parts_.contains(id)) continue;
    const core::Job& job = *request.view.state.find_job(id);
    const auto at = answer.allotments.emplace_hint(answer.allotments.end(), id, allotment(job, terms));
    if (parts_.at(id).sized) cluster::tell_by_measurements(request.view.state, job, at->second);
  }
  return answer;
}

// Nodes have come, gone or changed: nothing that was kept holds any more.
void TidePlanner::look_at_nodes(const core::PlanRequest& request) {
  if (tide_ && nodes_ == request.nodes) return;
  const core::ClusterState& state = request.view.state;
  nodes_ = request.nodes;
  rows_.follow_nodes(state);
  node_slots_ = 0;
  slots_per_node_ = 1;
  for (const NodeId id : rows_.nodes()) {
    const core::Node& node = *state.find_node(id);
    const int slots = static_cast<int>(node.owners.size());
    slots_per_node_ = std::max(slots_per_node_, slots);
    if (!node.cordoned) node_slots_ += slots;
  }
  for (const auto& [id, part] : parts_) followed_.insert(id);
  followed_.insert(request.jobs.begin(), request.jobs.end());
  tide_ =
      std::make_unique<Tide>(Ground{.slots = 0, .slots_per_node = slots_per_node_, .now = request.view.now}, settings_);
  bid_room_ = -1;
}

// Whose facts have changed since they were read, and for whom time has.
std::set<JobId> TidePlanner::stale(const core::PlanRequest& request) {
  std::set<JobId> jobs = std::move(followed_);
  followed_.clear();
  jobs.insert(request.looked_at.begin(), request.looked_at.end());
  for (auto thaw = thaws_.begin(); thaw != thaws_.end() && thaw->first <= request.view.now; ++thaw) {
    jobs.insert(thaw->second);
  }
  return jobs;
}

void TidePlanner::forget(JobId job) {
  const auto found = parts_.find(job);
  if (found == parts_.end()) return;
  const Part& part = found->second;
  on_cordoned_ -= part.on_cordoned;
  if (!part.sized) claimed_ -= part.slots;
  if (part.thaws) thaws_.erase({*part.thaws, job});
  parts_.erase(found);
}

// Who takes part, and with what; whom the plan no longer counts with leaves.
void TidePlanner::read(const core::PlanRequest& request, const std::set<JobId>& jobs) {
  const core::ClusterState& state = request.view.state;
  for (const JobId id : jobs) {
    forget(id);
    rows_.follow(state, id);
    const core::Job& job = *state.find_job(id);
    const PlanPart counted = request.part_of(job);
    const bool sized = counted != PlanPart::kNone && !cluster::is_claim(job, counted == PlanPart::kOwnWay);
    if (!sized) tide_->leave(id);
    if (counted == PlanPart::kNone) continue;
    const cluster::Placement& placement = rows_.placement(state, job);
    Part part{.sized = sized, .slots = size_of(placement), .on_cordoned = 0, .thaws = {}};
    for (const Share& share : placement) {
      const NodeId node = rows_.nodes()[static_cast<std::size_t>(share.node)];
      if (state.find_node(node)->cordoned) part.on_cordoned += share.slots;
    }
    const auto thaws = core::thaws_at(job);
    if (sized && thaws && *thaws > request.view.now) part.thaws = thaws;
    on_cordoned_ += part.on_cordoned;
    if (!sized) claimed_ += part.slots;
    if (part.thaws) thaws_.emplace(*part.thaws, id);
    parts_.emplace(id, part);
  }
}

void TidePlanner::bid(const core::PlanRequest& request, const std::set<JobId>& jobs) {
  for (const JobId id : jobs) {
    const auto part = parts_.find(id);
    if (part == parts_.end() || !part->second.sized) continue;
    const core::Job& job = *request.view.state.find_job(id);
    const bool own_way = request.part_of(job) == PlanPart::kOwnWay;
    const JobRow row = rows_.row(request.view, job, {.own_way = own_way, .room = std::max(0, room())});
    tide_->put(row, read_at(job, row, request.view.now));
  }
}

core::Allotment TidePlanner::allotment(const core::Job& job, const Terms& terms) const {
  if (!parts_.at(job.id).sized) return cluster::claim_of(job);
  const JobRow& row = tide_->row(job.id);
  const Curve& curve = tide_->market().curve(job.id);
  const int bought = tide_->market().choice(job.id).size;
  // A loss may have left a frozen job between the allowed sizes: it keeps the one below until it can change.
  const int size = bought == 0 || may_have(row, bought) ? bought : std::max(row.size_min, largest_size(row, bought));
  core::Allotment out{.size = size, .place = -size, .reason = {}, .lost = {}, .mark = {}};
  out.lost = lost_for(row, curve, bought, terms);
  if (out.lost.size() > kAlternativesMax) out.lost.resize(kAlternativesMax);
  out.reason = reason_for(row, curve, bought, terms);
  out.score = score_of(curve, bought, terms);
  if (!std::isfinite(out.score)) out.score = 0;
  if (bought == 0) {
    // By its place in line, which says the same as the price but for jobs to whom a slot is worth just that: so a price
    // that moves is news only for those whose place it changes.
    const bool outbid = curve.size() > 1 && next_in_line_ && next_in_line_ != job.id;
    out.reason.code = outbid ? ReasonCode::kPriceWait : ReasonCode::kWaitingForSlots;
  }
  if (size == 0 && row.placement.empty()) {
    const double needed = row.size_min;
    if (capacity() == 0) {
      out.reason = {ReasonCode::kNoNodes, {}};
    } else if (row.size_min > capacity()) {
      out.reason = {ReasonCode::kNeverFits, {{"needed", needed}, {"cluster", double(capacity())}}};
    }
  }
  make_finite(out.reason);
  for (core::Alternative& lost : out.lost) make_finite(lost.reason);
  return out;
}

LiveTidal::LiveTidal() : WholeClusterPolicy("tidal", std::make_shared<const Tidal>()) {}

std::unique_ptr<core::ClusterPlanner> LiveTidal::planner() const {
  return std::make_unique<TidePlanner>();
}

}  // namespace tidepool::policies::tidal
