#include "policies/tidal/planned_targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/place/node_wait.hpp"
#include "core/words/adjusted_reason.hpp"
#include "policies/engine/size_explorer.hpp"
#include "policies/engine/whole_cluster_policy.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;

constexpr std::size_t kAlternativesMax = 4;

// The job that reasons of waiting jobs name.
bool has_nodes_closed_for_a_while(const core::ClusterState& state) {
  return std::any_of(state.nodes.begin(), state.nodes.end(), [](const auto& entry) {
    const core::Node& node = entry.second;
    return node.state == core::NodeState::kUp && !node.cordoned && (node.drain || node.is_unsteady());
  });
}

// What a job is given by a market, and what it was weighed against there.
struct Weighed {
  const JobRow* row = nullptr;
  const Curve* curve = nullptr;
  int given = 0;
};

void weigh_others(const Weighed& weighed, const Terms& terms, core::Target& target) {
  target.score = score_of(*weighed.curve, weighed.given, terms);
  if (!std::isfinite(target.score) || target.score == 0) target.score = 0;  // a zero has no sign
  target.lost = lost_for(*weighed.row, *weighed.curve, weighed.given, terms);
  if (target.lost.size() > kAlternativesMax) target.lost.resize(kAlternativesMax);
  const int each = weighed.row->slots_per_worker;
  for (core::Alternative& lost : target.lost) {
    lost.size /= each;
    lost.reason = core::in_workers(std::move(lost.reason), each);
  }
}

}  // namespace

core::Target PlannedTargets::of(const core::ClusterView& view, const core::Job& job) const {
  const Part& part = plan_.bought.parts.at(job.id);
  if (!part.bids) return cluster::claim_of(job);
  return part.shut ? of_shut(job) : of_bidder(view, job);
}

core::Target PlannedTargets::of_bidder(const core::ClusterView& view, const core::Job& job) const {
  const JobRow& row = plan_.bought.row(job.id);
  const int given = plan_.cuts.given(job.id, plan_.bought.size(job.id));
  // A loss may have left a job that cannot change its size between the allowed sizes: it keeps the one below until it
  // can change.
  const int size = given == 0 || may_have(row, given) ? given : std::max(row.size_min, largest_size(row, given));
  // What is free where a gang waits for others is taken by no job before it in line.
  const int first = plan_.cuts.waits(job.id) ? plan_.capacity : 0;
  core::Target out{.size = size / row.slots_per_worker,
                   .place = -size - first,
                   .reason = {},
                   .lost = {},
                   .mark = plan_.promises.mark(job.id)};
  const bool never = given == 0 && row.placement.empty() && row.size_min > plan_.capacity;
  const bool tells_nodes = never && (plan_.capacity > 0 || has_nodes_closed_for_a_while(view.state));
  cluster::GrantReason told =
      tells_nodes ? cluster::GrantReason{core::never_fits(view.state, job, plan_.capacity, false)} : why(job.id, given);
  out.reason = core::in_workers(std::move(told.reason), row.slots_per_worker);
  cluster::add_measurements_to_answer(view.state, job, told.rests_on, out);
  return out;
}

cluster::GrantReason PlannedTargets::why(JobId job, int given) const {
  const JobRow& row = plan_.bought.row(job);
  const int bought = plan_.bought.size(job);
  if (given == 0) return why_none(job, bought);
  if (given < bought && given == size_of(row.placement)) {
    return {core::reason::NoRoomTogether{{.size = given, .next = bought}}};
  }
  return reason_for(row, plan_.bought.market.market().curve(job), given, plan_.terms);
}

cluster::GrantReason PlannedTargets::why_none(JobId job, int bought) const {
  const JobRow& row = plan_.bought.row(job);
  if (row.placement.empty() && plan_.capacity == 0) return {core::reason::NoNodes{}};
  if (bought == 0) {
    if (const auto late = PromiseBook::lateness(plan_.promises.mark(job))) {
      return {
          core::reason::DeadlineLost{.needed = row.size_max, .late_s = late->beside_s, .alone_late_s = late->alone_s}};
    }
  }
  if (bought > 0 || plan_.cuts.is_without(job)) {
    return {core::reason::WaitingForSlots{.needed = row.size_min, .free = static_cast<int>(plan_.terms.free)}};
  }
  // By its place in line, which says the same as the price but for jobs to which a slot is worth just that: so a price
  // that moves is news only for those whose place it changes.
  const Curve& curve = plan_.bought.market.market().curve(job);
  const bool is_outbid = curve.size() > 1 && plan_.next_in_line && plan_.next_in_line != job;
  return {reason_to_wait(row, curve, plan_.terms, is_outbid)};
}

core::Target PlannedTargets::of_shut(const core::Job& job) const {
  const NodeShares::Shut shut = *plan_.bought.shares.shut(job.id);
  core::Reason reason = reason_to_wait(*shut.row, *shut.curve, shut.terms, shut.is_outbid);
  return {.reason = core::in_workers(std::move(reason), shut.row->slots_per_worker), .lost = {}, .mark = {}};
}

void PlannedTargets::add_words(const core::Job& job, core::Target& target) const {
  const Part& part = plan_.bought.parts.at(job.id);
  if (!part.bids) return;
  if (part.shut) {
    const NodeShares::Shut shut = *plan_.bought.shares.shut(job.id);
    return weigh_others({shut.row, shut.curve, 0}, shut.terms, target);
  }
  const int given = plan_.cuts.given(job.id, plan_.bought.size(job.id));
  weigh_others({&plan_.bought.row(job.id), &plan_.bought.market.market().curve(job.id), given}, plan_.terms, target);
}

}  // namespace tidepool::policies::tidal
