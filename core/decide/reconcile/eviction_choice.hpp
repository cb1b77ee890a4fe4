// How the workers of other jobs leave for a waiting gang: they move, or the job releases its slots and starts again, or
// they stay.
//
// Rule: this is determined once per job, and all workers of a job leave in the same way. Only jobs narrower than what
// the gang needs in one place leave, so no two jobs make each other leave in turn (node_clearing.hpp has the rules).
#pragma once

#include "base/id_table.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/place/clearing.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {

enum class EvictionKind { kStays, kMoves, kStartsAgain };

class EvictionChoice {
 public:
  // Requires: nodes are cleared for the job (cleared_size()). All outlive it.
  EvictionChoice(DecisionDraft& draft, const Job& waiting, PreemptionLimits& limits);

  [[nodiscard]] const Job& waiting() const { return waiting_; }
  [[nodiscard]] GangSize gang() const { return gang_; }
  [[nodiscard]] SlotsFor claim() const { return {waiting_, gang_.workers * gang_.slots_each}; }

  [[nodiscard]] EvictionKind of(const Worker& worker);

 private:
  // Slots that the gang needs in one place: on a node, or in a domain.
  [[nodiscard]] int together() const;
  [[nodiscard]] EvictionKind of(const Job& job) const;

  DecisionDraft& draft_;
  const Job& waiting_;
  PreemptionLimits& limits_;
  GangSize gang_;
  IdTable<JobId, EvictionKind> known_;
};

}  // namespace tidepool::core
