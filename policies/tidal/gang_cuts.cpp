#include "policies/tidal/gang_cuts.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace tidepool::policies::tidal {
namespace {

GangRoom::Change change_of(const Purchases& bought, JobId job) {
  const Part& part = bought.parts.at(job);
  return {.row = &bought.row(job),
          .size = bought.size(job),
          .worth = bought.worth_of_slot(job),
          .nodes = bought.shares.knows(job) ? &bought.shares.nodes_of(job) : nullptr,
          .asks = part.names,
          .moves = part.moves};
}

// None: it holds nothing, is to have another size, or is bound to what it holds for ever.
std::optional<GangRoom::KeepingJob> stayer_of(const Purchases& bought, JobId job, const Part& part, Instant now) {
  if (!part.bids || part.shut || part.held.empty()) return std::nullopt;
  const cluster::JobRow& row = bought.market.row(job);
  GangRoom::KeepingJob stayer{.row = &row, .moves = part.moves};
  if (bought.market.is_bound(job)) {
    if (part.bound_until <= now) return std::nullopt;
    stayer.worth = bought.market.worth(job).worth_of_held();
    stayer.until = part.bound_until;
    return stayer;
  }
  const bool is_bound = row.resize_blocked || !row.preemptible || row.pinned > 0;
  if (is_bound || bought.size(job) != size_of(row.placement)) return std::nullopt;
  stayer.worth = bought.worth_of_slot(job);
  return stayer;
}

// Those that keep what they hold and are not bound to it, or not for ever.
std::vector<GangRoom::KeepingJob> may_leave(const Purchases& bought, Instant now) {
  std::vector<GangRoom::KeepingJob> stayers;
  for (const auto& [id, part] : bought.parts.all()) {
    if (const auto stayer = stayer_of(bought, id, part, now)) stayers.push_back(*stayer);
  }
  return stayers;
}

// Others leave only where a gang finds no room next to them.
GangRoom::Fit fit_of(const std::vector<GangRoom::Change>& changes, const Purchases& bought, Instant now) {
  GangRoom::Fit fit = bought.parts.gang_room().fit(changes);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool finds_none = fit.sizes[i] == 0 && changes[i].size > 0;
    if (finds_none) return bought.parts.gang_room().fit(changes, may_leave(bought, now));
  }
  return fit;
}

}  // namespace

void GangCuts::forget(JobId job) {
  giving_.erase(job);
  resized_.erase(job);
  wanting_.erase(job);
}

void GangCuts::note(const Purchases& bought, JobId job) {
  forget(job);
  const Part* part = bought.parts.find(job);
  if (part == nullptr || !part->bids) return;
  const cluster::JobRow& row = bought.row(job);
  const int held = size_of(row.placement);
  const int size = bought.size(job);
  if (size < held) giving_.insert(job);
  if (held > 0 && size > 0 && size != held) resized_.insert(job);
  if (size > held && row.slots_per_worker > 1) wanting_.insert(job);
}

IdSet<JobId> GangCuts::fit(const Purchases& bought, Instant now) {
  IdSet<JobId> told_anew = without_;
  for (const auto& [job, size] : cut_) told_anew.insert(job);
  cut_.clear();
  waiting_ = {};
  held_ = 0;
  if (wanting_.empty()) return told_anew;
  std::vector<GangRoom::Change> changes;
  for (const auto* jobs : {&giving_, &wanting_}) {
    for (const JobId id : *jobs) changes.push_back(change_of(bought, id));
  }
  const GangRoom::Fit fit = fit_of(changes, bought, now);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (fit.sizes[i] != changes[i].size) cut_.emplace(changes[i].row->id, fit.sizes[i]);
  }
  for (const JobId job : fit.leave) cut_.emplace(job, 0);
  told_anew.insert(wanting_);
  told_anew.insert(fit.leave.begin(), fit.leave.end());
  waiting_.insert(fit.wait.begin(), fit.wait.end());
  held_ = fit.held;
  return told_anew;
}

int GangCuts::given(JobId job, int bought) const {
  const auto cut = cut_.find(job);
  return cut == cut_.end() ? bought : cut->second;
}

const IdSet<JobId>& GangCuts::find_without(const Purchases& bought) {
  without_ = {};
  for (const auto& [id, size] : cut_) {
    if (size == 0 && bought.row(id).placement.empty()) without_.insert(id);
  }
  return without_;
}

}  // namespace tidepool::policies::tidal
