// Nodes for gangs: for those that wait, and for workers that have to leave nodes that are being drained.
//
// Rule: a gang for which jobs that run make room, and lose less by it than a node costs, gets none unless it has waited
// for as long as one takes to come.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/provision/provision_turn.hpp"
#include "core/provision/size_steps.hpp"

namespace tidepool::core {

class GangNodes {
 public:
  // `turn` outlives it.
  explicit GangNodes(ProvisionTurn& turn) : turn_(turn) {}

  // Whether some gang waits for a node that is on its way, or will be.
  bool serve();
  // Idle nodes that gangs will need in a moment stay. Requires: serve() has been called.
  void keep_nodes();
  // Slots that jobs are to give to gangs that wait.
  [[nodiscard]] int slots_to_give() const { return slots_to_give_; }

 private:
  bool serve_waiting(const BacklogGang& gang);
  [[nodiscard]] bool others_give_way(const Job& job, const PoolSpec& spec, int lacking);
  [[nodiscard]] const std::vector<SizeStep>& steps_down_on(const std::string& slot_type);

  ProvisionTurn& turn_;
  std::map<std::string, std::vector<SizeStep>> steps_down_;  // by slot type, as far as asked
  std::vector<const Job*> not_served_;                       // they wait, or will in a moment
  int slots_to_give_ = 0;
};

}  // namespace tidepool::core
