#include "core/facts/nodes/slot_holds.hpp"

#include <vector>

#include "core/facts/drain_facts.hpp"
#include "core/facts/nodes/node_facts.hpp"
#include "core/facts/worker_exit.hpp"

namespace tidepool::core {

Status apply(StateChange& change, const SlotsHeld& fact) {
  TP_TRY(check_worker(change.state(), fact.worker));
  const Worker* worker = change.state().find_worker(fact.worker);
  if (worker == nullptr || worker->held || fact.lasted < Duration()) return ok_status();
  hold_slots(change, fact.worker, {.since = change.at() - fact.lasted, .why = fact.why},
             {fact.exit_code, fact.signal, fact.detail});
  return ok_status();
}

Status apply(StateChange& change, const SlotsReleased& fact) {
  const Node* node = change.state().find_node(fact.node);
  if (node == nullptr) return not_found("there is no " + fact.node.text());
  std::vector<WorkerId> holders;
  for (const WorkerId id : workers_on(*node)) {
    if (change.state().find_worker(id)->held) holders.push_back(id);
  }
  if (holders.empty()) return conflict("no slots of " + fact.node.text() + " are quarantined");
  remove_exited_workers(change, holders, {.detail = "an operator has said that its slots are free"});
  return ok_status();
}

}  // namespace tidepool::core
