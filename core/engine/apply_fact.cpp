#include "core/engine/apply_fact.hpp"

#include <algorithm>

#include "base/overloaded.hpp"
#include "core/engine/fact_kinds.hpp"
#include "core/facts/budget_facts.hpp"
#include "core/facts/drain_facts.hpp"
#include "core/facts/job_facts.hpp"
#include "core/facts/nodes/maintenance_facts.hpp"
#include "core/facts/nodes/node_facts.hpp"
#include "core/facts/nodes/node_removal.hpp"
#include "core/facts/nodes/node_steadiness.hpp"
#include "core/facts/nodes/notice_facts.hpp"
#include "core/facts/nodes/slot_holds.hpp"
#include "core/facts/policy_facts.hpp"
#include "core/facts/pool_facts.hpp"
#include "core/facts/price_facts.hpp"
#include "core/facts/shares.hpp"
#include "core/facts/state_moves.hpp"
#include "core/facts/tenant_facts.hpp"
#include "core/facts/training/parking_facts.hpp"
#include "core/facts/training/program_facts.hpp"
#include "core/facts/training/straggler_facts.hpp"
#include "core/facts/training/training_facts.hpp"

namespace tidepool::core {
namespace {

// It comes too late to change anything.
bool is_of_ended_job(const ClusterState& state, const Fact& fact) {
  return std::visit(Overloaded{
                        [&](const WorkersReport auto& report) { return state.has_ended(report.job); },
                        [](const auto&) { return false; },
                    },
                    fact);
}

// A node of a pool comes because it was asked for, and one that holds nothing goes because it was given back.
bool is_outside_change(const ClusterState& state, const NodeJoined& fact) {
  return state.pools.find_name(fact.name) == nullptr;
}
bool is_outside_change(const ClusterState& state, const NodeLost& fact) {
  const Node* node = state.find_node(fact.node);
  return node != nullptr && std::any_of(node->owners.begin(), node->owners.end(), [](WorkerId id) { return !!id; });
}
template <class F>
bool is_outside_change(const ClusterState&, const F&) {
  return OutsideChange<F>;
}

template <class F>
Status apply_any(StateChange& change, const F& fact) {
  TP_TRY(apply(change, fact));
  if (is_outside_change(change.state(), fact)) note_outside_change(change);
  return ok_status();
}

}  // namespace

Status apply_fact(StateChange& change, const Fact& fact, const StragglerDetectors& detectors) {
  if (is_of_ended_job(change.state(), fact)) return ok_status();
  return std::visit(Overloaded{
                        [&](const StepsMeasured& steps) { return apply(change, steps, detectors); },
                        [&](const DetectorConfigured& chosen) { return apply(change, chosen, detectors); },
                        [](const ClockAdvanced&) { return ok_status(); },
                        [&](const auto& any) { return apply_any(change, any); },
                    },
                    fact);
}

}  // namespace tidepool::core
