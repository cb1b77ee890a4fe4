// The limits on preemption that operators set with the tenants: how long a job waits before others are preempted for it
// (preempt_after), how often one job, and all together, are preempted within a window (churn), and for how long one is
// spared whose program refuses (notice_refusal).
//
// Safe rules. A preemption is one for another job (PreemptIntent::for_job), and takes all slots of its victim;
// shrinking is none. What a guarantee covers is held up by no limit, and is counted: a tenant has its guarantee back at
// once, as others could use its slots only because of that. Of times no more are kept than the limits are about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"
#include "core/tenants/guarantee_room.hpp"

namespace tidepool::core {

// Since when the job waits; of one that runs, since when it is as it is.
[[nodiscard]] Instant waits_since(const Job& job);
// From when on others may be preempted for it.
[[nodiscard]] Instant may_preempt_from(const ClusterState& state, const Job& job);
// Some job may be spared.
[[nodiscard]] bool may_spare(const TenantTree& tree);
// What no guarantee covers preempts it not now: it was preempted as often as a job may be within the window
// (churn.per_job), or its program refuses to leave.
[[nodiscard]] bool is_spared(const ClusterState& state, const Job& job, Instant now);
// When others may be preempted for it, or it may be preempted itself, though that is not so yet after this moment.
[[nodiscard]] std::optional<Instant> next_preemption_due(const ClusterState& state, const Job& job, Instant after);
// When the pool's limit leaves more preemptions than after this moment.
[[nodiscard]] std::optional<Instant> next_churn_due(const ClusterState& state, std::optional<Instant> after);

// Counts a preemption of the job for another. Requires: the tree limits preemption.
void count_preemption(ClusterState& state, Job& victim, Instant at);

// Slots that a job is to have more.
struct SlotsFor {
  const Job& job;
  int slots = 0;
};

// What keeps a job from being preempted for another one, and until when.
enum class PreemptionBar { kClaimantWaits, kOften, kPoolOften, kRefused };
struct BarredUntil {
  PreemptionBar by = PreemptionBar::kClaimantWaits;
  Instant until;
};

// The bar that is lifted first for a claimant, and which victim's it is; none = its own or the pool's.
struct HeldUpBy {
  BarredUntil bar;
  JobId victim;
};
// What the claimant is told. `free`: slots that it finds.
[[nodiscard]] Reason reason_held_up(const ClusterState& state, const SlotsFor& claim, int free, const HeldUpBy& by);

// The limits as one decision uses them up.
class PreemptionLimits {
 public:
  PreemptionLimits(const ClusterState& state, Instant now);

  // Nothing is limited, and nothing of what follows need be asked but what guarantees cover.
  [[nodiscard]] bool none() const { return none_; }
  // The decision's intents so far, each time it is asked.
  void follow(const Plan& plan);
  // This decision keeps slots for the job until they are free.
  void keep_for(const SlotsFor& claim);

  // A guarantee covers the claim against the victim's tenant: no limit holds it up.
  [[nodiscard]] bool covers(const SlotsFor& claim, const Job& victim);
  // Slots that some guarantee covers.
  [[nodiscard]] int covered(const Job& claimant);
  // Slots of the tenant, and of those below it, after the decision so far.
  [[nodiscard]] std::int64_t held(const std::string& tenant);
  // By a limit of one of the two jobs; none: by none.
  [[nodiscard]] std::optional<BarredUntil> bar(const Job& claimant, const Job& victim) const;
  // How many more the pool's limit allows; none = any number.
  [[nodiscard]] std::optional<int> left() const;
  // When it allows one.
  [[nodiscard]] Instant allows_one() const;
  // It may be preempted for the claim now, as far as the limits go.
  [[nodiscard]] bool allow(const SlotsFor& claim, const Job& victim);

  // The program of the victim may refuse to leave for the claim: its tenant lets it, it would hear that it is asked,
  // and no guarantee covers the claim.
  [[nodiscard]] bool lets_refuse(const SlotsFor& claim, const Job& victim);
  // Of one that may refuse: until when it has.
  [[nodiscard]] std::optional<Instant> refused_until(const Job& victim) const;
  // What it says to the question that stands is awaited.
  [[nodiscard]] bool awaits_answer(const Job& victim) const;
  // It has answered, or kept silent, so lately that it need not be asked once more.
  [[nodiscard]] bool has_yielded(const Job& victim) const;

  // What keeps the job from being preempted, whatever claims its slots without a guarantee.
  [[nodiscard]] std::optional<BarredUntil> bar_of(const Job& victim) const;

 private:
  [[nodiscard]] GuaranteeRoom& room();

  const ClusterState& state_;
  Instant now_;
  bool none_;
  std::vector<Instant> pool_;        // preemptions within the window, those of this decision as well
  std::size_t followed_ = 0;         // intents
  IdSet<WorkerId> leaving_workers_;  // by these
  std::vector<std::pair<std::string, std::int64_t>> given_;  // by tenant, until the room is first asked for
  std::optional<GuaranteeRoom> room_;
};

}  // namespace tidepool::core
