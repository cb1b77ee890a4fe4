#include "core/decide/reconcile/preemption.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"

namespace tidepool::core {

bool Preemption::make_room(const Job& claimant, SlotClaim& claim) {
  if (victims_.empty()) return false;
  if (!is_hopeless(claim)) {
    const SlotReservations before = victims_.reservations();
    const SlotsFor wanted{claimant, claim.slots()};
    const std::vector<TargetedJob> chosen = choose(wanted, claim, Victims::By::kLimits);
    // The part that a guarantee covers is claimed separately, and waits for no answer.
    const int covered = victims_.to_ask(chosen, wanted).empty() ? 0 : covered_workers(claimant, claim);
    const bool has_part = covered > 0 && covered < claim.workers;
    if (!chosen.empty() && !has_part) {
      TP_CHECK(victims_.reservations().reserve(claim), "the victims that are left make room for the claim");
      victims_.take(chosen, wanted);
      return true;
    }
    victims_.restore(before);
  }
  victims_.note_missed(claimant, [](const Job&) { return true; });
  return false;
}

std::vector<TargetedJob> Preemption::choose(const SlotsFor& claimant, const SlotClaim& claim, Victims::By by) {
  const SlotReservations before = victims_.reservations();
  std::vector<TargetedJob> chosen;
  bool fits = false;
  victims_.look_at(claimant, by, [&](const TargetedJob& victim) {
    if (freed_by(*victim.job, claim, before) == 0 || !victims_.may_be_chosen(*victim.job, claimant, by)) return true;
    chosen.push_back(victim);
    victims_.add_workers(victim, victims_.reservations());
    fits = victims_.reservations().fits(claim);
    return !fits;
  });
  if (!fits) return {};
  drop_unneeded_for(claim, before, chosen);
  return victims_.is_within_limit(chosen, claimant, by) ? chosen : std::vector<TargetedJob>{};
}

int Preemption::covered_workers(const Job& claimant, const SlotClaim& claim) {
  const auto& sizes = claimant.spec.elastic.sizes;
  const int most = std::min(claim.workers, victims_.limits().covered(claimant) / claim.slots_each);
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), claimant.size() + most);
  return above == sizes.begin() ? 0 : std::max(0, *std::prev(above) - claimant.size());
}

bool Preemption::is_hopeless(const SlotClaim& claim) {
  if (!claim.types || claim.slots_each > 1) return false;
  return std::none_of(claim.types->begin(), claim.types->end(), [&](const std::string& type) {
    return victims_.reservations().workers_on(type, claim) + victims_.slots_of_type(type) >= claim.workers;
  });
}

// `before` had no room for the claim. A claim of single slots needs every victim, and none is tried
// without, unless one holds no more than what is left over.
void Preemption::drop_unneeded_for(const SlotClaim& claim, const SlotReservations& before,
                                   std::vector<TargetedJob>& chosen) {
  const bool is_spare =
      claim.slots_each > 1 || claim.types || std::any_of(chosen.begin(), chosen.end(), [&](const TargetedJob& each) {
        return freed_by(*each.job, claim, before) <= victims_.reservations().left_over(claim);
      });
  if (!is_spare) return;
  const auto with = [&](const std::vector<TargetedJob>& victims) {
    SlotReservations made = before;
    for (const TargetedJob& each : victims) victims_.add_workers(each, made);
    return made;
  };
  drop_unneeded(chosen, [&](const std::vector<TargetedJob>& fewer) { return with(fewer).fits(claim); });
  victims_.restore(with(chosen));
}

// Slots of use to the claim: none on nodes that take no workers or are kept for others.
int Preemption::freed_by(const Job& victim, const SlotClaim& claim, const SlotReservations& beside) const {
  int slots = 0;
  for (const WorkerId id : victim.membership.workers) {
    const Worker& worker = *draft_.state().find_worker(id);
    const std::string& type = draft_.state().find_node(worker.node)->slot_type;
    const bool is_of_type =
        !claim.types || std::find(claim.types->begin(), claim.types->end(), type) != claim.types->end();
    if (is_of_type && beside.counts(worker)) slots += static_cast<int>(worker.slots.size());
  }
  return slots;
}

bool Preemption::is_held_up(const Job& claimant, const SlotClaim& claim) {
  const SlotReservations before = victims_.reservations();
  const bool would_fit = !choose({claimant, claim.slots()}, claim, Victims::By::kNeed).empty();
  victims_.restore(before);
  return would_fit;
}

}  // namespace tidepool::core
