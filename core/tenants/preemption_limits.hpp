// The limits on preemption that operators set with the tenants: how long a job waits before others are preempted for it
// (preempt_after), how often one job, and all jobs together, are preempted within a window (churn), and how long a job
// is protected whose program refuses (notice_refusal).
//
// Safe rules. A preemption is for another job (PreemptIntent::for_job), and takes all slots of its victim; shrinking is
// no preemption. No limit delays a claim that a guarantee covers, but the preemption is counted: a tenant gets its
// guarantee back at once, because others could use its slots only on that condition. Only as many preemption times are
// kept as the limits need.
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

// Since when the job waits; for a running job, since when it has been in its present state.
[[nodiscard]] Instant waits_since(const Job& job);
// The time from which others may be preempted for it.
[[nodiscard]] Instant may_preempt_from(const ClusterState& state, const Job& job);
// Some job may be protected.
[[nodiscard]] bool may_spare(const TenantTree& tree);
// A claim that no guarantee covers cannot preempt the job now: it was preempted as often as a job may be within the
// window (churn.per_job), or its program refuses to leave.
[[nodiscard]] bool is_spared(const ClusterState& state, const Job& job, Instant now);
// The next time after `after` at which others may be preempted for the job, or it may be preempted itself.
[[nodiscard]] std::optional<Instant> next_preemption_due(const ClusterState& state, const Job& job, Instant after);
// The next time after `after` at which the pool's limit allows more preemptions.
[[nodiscard]] std::optional<Instant> next_churn_due(const ClusterState& state, std::optional<Instant> after);

// Counts a preemption of the job for another one. Requires: the tree limits preemption.
void count_preemption(ClusterState& state, Job& victim, Instant at);

// Additional slots for a job.
struct SlotsFor {
  const Job& job;
  int slots = 0;
};

// What prevents the preemption of a job for another one, and until when.
enum class PreemptionBar { kClaimantWaits, kOften, kPoolOften, kRefused };
struct BarredUntil {
  PreemptionBar by = PreemptionBar::kClaimantWaits;
  Instant until;
};

// The limit that ends first for a claimant, and the victim it belongs to; none = the claimant's own or the pool's
// limit.
struct HeldUpBy {
  BarredUntil bar;
  JobId victim;
};
// The reason for the claimant. `free`: free slots that it finds.
[[nodiscard]] Reason reason_held_up(const ClusterState& state, const SlotsFor& claim, int free, const HeldUpBy& by);

// The limits, as one decision uses them up.
class PreemptionLimits {
 public:
  PreemptionLimits(const ClusterState& state, Instant now);

  // Nothing is limited: of the functions below only those about guarantees need to be called.
  [[nodiscard]] bool none() const { return none_; }
  // Takes in the decision's intents so far; call before each use.
  void follow(const Plan& plan);
  // This decision reserves slots for the job until they are free.
  void keep_for(const SlotsFor& claim);

  // A guarantee covers the claim against the victim's tenant: no limit delays it.
  [[nodiscard]] bool covers(const SlotsFor& claim, const Job& victim);
  // Slots covered by some guarantee.
  [[nodiscard]] int covered(const Job& claimant);
  // Slots of the tenant, and of those below it, after the decision's intents so far.
  [[nodiscard]] std::int64_t held(const std::string& tenant);
  // The limit of one of the two jobs that prevents it; none: no limit does.
  [[nodiscard]] std::optional<BarredUntil> bar(const Job& claimant, const Job& victim) const;
  // How many more preemptions the pool's limit allows; none = any number.
  [[nodiscard]] std::optional<int> left() const;
  // When it allows one more.
  [[nodiscard]] Instant allows_one() const;
  // The limits allow preempting the victim for the claim now.
  [[nodiscard]] bool allow(const SlotsFor& claim, const Job& victim);

  // The program of the victim may refuse to leave for the claim: its tenant permits that, its agent can deliver the
  // question, and no guarantee covers the claim.
  [[nodiscard]] bool allows_refusal(const SlotsFor& claim, const Job& victim);
  // For a victim that may refuse: until when its refusal is in force.
  [[nodiscard]] std::optional<Instant> refused_until(const Job& victim) const;
  // The answer to the open question is awaited.
  [[nodiscard]] bool awaits_answer(const Job& victim) const;
  // It answered, or did not answer, so recently that it need not be asked again.
  [[nodiscard]] bool has_yielded(const Job& victim) const;

  // What prevents the preemption of the job, whichever claim without a guarantee needs its slots.
  [[nodiscard]] std::optional<BarredUntil> bar_of(const Job& victim) const;

 private:
  [[nodiscard]] GuaranteeRoom& room();

  const ClusterState& state_;
  Instant now_;
  bool none_;
  std::vector<Instant> pool_;        // preemptions within the window, including those of this decision
  std::size_t followed_ = 0;         // intents processed
  IdSet<WorkerId> leaving_workers_;  // because of these intents
  std::vector<std::pair<std::string, std::int64_t>> given_;  // by tenant, until the room is first needed
  std::optional<GuaranteeRoom> room_;
};

}  // namespace tidepool::core
