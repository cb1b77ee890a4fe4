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

  [[nodiscard]] bool is_enough_for(const LackingJob& lacking) const {
    int room = 0;
    for (const GivenSlots& each : given_) {
      if (room >= lacking.slots) break;
      if (is_of_use(each, lacking)) room += each.slots;
    }
    return room >= lacking.slots;
  }

  void serve(const LackingJob& lacking) {
    int lacks = lacking.slots;
    IdSet<JobId> givers;
    const auto take = [&](bool own) {
      for (GivenSlots& each : given_) {
        if (lacks == 0) break;
        if ((each.for_job == lacking.job->id) != own || !is_of_use(each, lacking)) continue;
        const int taken = std::min(lacks, each.slots);
        each.slots -= taken;
        lacks -= taken;
        if (each.from) givers.insert(each.from);
      }
    };
    take(true);
    take(false);
    for (const JobId giver : givers) claimants_[giver].push_back(lacking.job->id);
    std::erase_if(given_, [](const GivenSlots& each) { return each.slots == 0; });
  }

  [[nodiscard]] bool is_used_up() const { return given_.empty(); }
  [[nodiscard]] std::map<JobId, std::vector<JobId>> claimants() && { return std::move(claimants_); }

 private:
  [[nodiscard]] bool is_of_use(const GivenSlots& given, const LackingJob& lacking) const {
    const JobSpec& spec = lacking.job->spec;
    const bool may_be_anywhere = !is_choosy(spec) && !lacking.type;
    if (!given.node) return may_be_anywhere && spec.gpus_per_worker == 1;
    if (may_be_anywhere) return true;
    const Node& node = *state_.find_node(given.node);
    return may_run_on(spec, node) && (!lacking.type || node.slot_type == *lacking.type);
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
  for (const LackingJob& job : lacking) {
    if (slots.is_used_up()) break;
    slots.is_enough_for(job) ? slots.serve(job) : later.push_back(&job);
  }
  for (const LackingJob* job : later) slots.serve(*job);
  return std::move(slots).claimants();
}

bool still_lacks(const Job& claimant, const ReleasedSlots& slots) {
  const auto has_had = [&](const std::optional<Instant>& changed) { return changed && *changed >= slots.at; };
  return !has_had(claimant.last_start_at) && !has_had(claimant.last_resize_at);
}

}  // namespace tidepool::core
