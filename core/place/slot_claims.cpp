#include "core/place/slot_claims.hpp"

#include <algorithm>
#include <utility>

#include "base/id_set.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {
namespace {

class SlotsGiven {
 public:
  SlotsGiven(const ClusterState& state, std::vector<GivenSlots> given) : state_(state), given_(std::move(given)) {}

  [[nodiscard]] bool is_enough_for(const LackingJob& who) const {
    int room = 0;
    for (const GivenSlots& each : given_) {
      if (room >= who.slots) break;
      if (is_of_use(each, who)) room += each.slots;
    }
    return room >= who.slots;
  }

  void serve(const LackingJob& who) {
    int lacks = who.slots;
    IdSet<JobId> givers;
    const auto take = [&](bool own) {
      for (GivenSlots& each : given_) {
        if (lacks == 0) break;
        if ((each.for_job == who.job->id) != own || !is_of_use(each, who)) continue;
        const int taken = std::min(lacks, each.slots);
        each.slots -= taken;
        lacks -= taken;
        if (each.from) givers.insert(each.from);
      }
    };
    take(true);
    take(false);
    for (const JobId giver : givers) claimants_[giver].push_back(who.job->id);
    std::erase_if(given_, [](const GivenSlots& each) { return each.slots == 0; });
  }

  [[nodiscard]] bool is_used_up() const { return given_.empty(); }
  [[nodiscard]] std::map<JobId, std::vector<JobId>> claimants() && { return std::move(claimants_); }

 private:
  [[nodiscard]] bool is_of_use(const GivenSlots& given, const LackingJob& who) const {
    const JobSpec& spec = who.job->spec;
    const bool may_be_anywhere = !is_choosy(spec) && !who.type;
    if (!given.node) return may_be_anywhere && spec.gpus_per_worker == 1;
    if (may_be_anywhere) return true;
    const Node& node = *state_.find_node(given.node);
    return may_run_on(spec, node) && (!who.type || node.slot_type == *who.type);
  }

  const ClusterState& state_;
  std::vector<GivenSlots> given_;
  std::map<JobId, std::vector<JobId>> claimants_;
};

}  // namespace

std::map<JobId, std::vector<JobId>> claimants_of(const ClusterState& state, std::vector<GivenSlots> given,
                                                 const std::vector<LackingJob>& lacking) {
  SlotsGiven slots(state, std::move(given));
  std::vector<const LackingJob*> later;
  for (const LackingJob& who : lacking) {
    if (slots.is_used_up()) break;
    slots.is_enough_for(who) ? slots.serve(who) : later.push_back(&who);
  }
  for (const LackingJob* who : later) slots.serve(*who);
  return std::move(slots).claimants();
}

bool still_lacks(const Job& claimant, const GaveSlots& slots) {
  const auto has_had = [&](const std::optional<Instant>& changed) { return changed && *changed >= slots.at; };
  return !has_had(claimant.last_start_at) && !has_had(claimant.last_resize_at);
}

}  // namespace tidepool::core
