// Nodes for gangs: for gangs that wait, and for workers that must leave nodes that are being drained.
//
// Rule: if running jobs can make room for a gang at a smaller loss than the cost of a node, the gang gets no node until
// it has waited for as long as a node takes to come.
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

  // Whether a gang waits for a node that is coming, or has been ordered now.
  bool serve();
  // Keeps idle nodes that gangs will need in a moment. Requires: serve() was called.
  void keep_nodes();
  // Slots that jobs will release to waiting gangs.
  [[nodiscard]] int slots_to_give() const { return slots_to_give_; }

 private:
  bool serve_waiting(const BacklogGang& gang);
  [[nodiscard]] bool others_give_way(const Job& job, const PoolSpec& spec, int lacking);
  [[nodiscard]] const std::vector<SizeStep>& steps_down_on(const std::string& slot_type);

  ProvisionTurn& turn_;
  std::map<std::string, std::vector<SizeStep>> steps_down_;  // by slot type, as far as requested
  std::vector<const Job*> not_served_;                       // gangs that wait, or will in a moment
  int slots_to_give_ = 0;
};

}  // namespace tidepool::core
