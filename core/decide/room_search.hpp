// Finds the workers that must move so that a job that waits for particular nodes has room there: the cheapest moves, in
// addition to slots that are free and slots that become free without moves.
//
// Rules. Whether the workers of a job may move is determined once per job, and whether they have room elsewhere once
// for all jobs with the same constraints. For single slots, workers are taken from an index by cost that the engine
// keeps (place/move_costs.hpp), so no worker is examined that costs more than the last one taken. For wider workers all
// workers on these nodes are examined once, and the nodes once for each worker that still lacks room.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/type_moves.hpp"
#include "core/place/move_costs.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

// The workers that may move for the waiting job, now or later, and at what cost.
class MovableWorkers {
 public:
  // Both outlive it.
  MovableWorkers(DecisionDraft& draft, const Job& waiting) : draft_(draft), waiting_(waiting) {}

  // Slot-seconds; none = it stays.
  [[nodiscard]] std::optional<double> cost_of(const Worker& worker);

 private:
  [[nodiscard]] bool fits_elsewhere(const Job& job);
  [[nodiscard]] const std::map<std::string, int>& workers_elsewhere(const Job& job);

  DecisionDraft& draft_;
  const Job& waiting_;
  IdTable<JobId, std::optional<double>> costs_;
  using Asked = std::pair<int, NodeDemand>;  // slots of a worker, nodes
  std::map<Asked, std::map<std::string, int>> workers_elsewhere_;
};

class RoomSearch {
 public:
  // All outlive it. `leaving`: workers whose slots count as free.
  RoomSearch(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving)
      : draft_(draft),
        waiting_(waiting),
        leaving_(leaving),
        each_(waiting.spec.gpus_per_worker),
        movable_(draft, waiting) {}

  // Call once. Requires: the job has no topology rule.
  [[nodiscard]] TypeRoom find();

 private:
  struct Mover {
    double cost_s = 0;
    WorkerId worker;
    int slots = 0;
  };
  // A node on which the waiting job may run.
  struct OpenNode {
    int open = 0;               // slots that are free, or are being released
    std::vector<Mover> movers;  // cheapest first
    std::size_t moved = 0;      // the first ones, which are assumed to have left
  };
  // The moves that make room for one more worker of the waiting job on the node.
  struct NextMoves {
    OpenNode* node = nullptr;
    std::size_t moved = 0;  // number of its movers, including those taken already
    double cost_s = 0;
  };

  [[nodiscard]] bool is_open(const Node& node) const;
  [[nodiscard]] bool is_on_open_node(const Worker& worker) const;
  [[nodiscard]] int needed() const { return waiting_.spec.elastic.sizes.front(); }
  // Null: it accepts several types.
  [[nodiscard]] const std::string* only_type() const;

  [[nodiscard]] TypeRoom find_by_cost(const MoveCosts& known);
  [[nodiscard]] int slots_coming(const MoveCosts& known) const;
  [[nodiscard]] JobId holder_of_most(const MoveCosts& known) const;

  [[nodiscard]] TypeRoom find_on_nodes();
  void look_at(const Node& node);
  [[nodiscard]] JobId holder_of_most() const;
  [[nodiscard]] std::optional<NextMoves> next_moves(OpenNode& node) const;
  bool move_cheapest(TypeRoom& room);

  void add_gangs(TypeRoom& room) const;

  DecisionDraft& draft_;
  const Job& waiting_;
  const IdSet<WorkerId>& leaving_;
  int each_;  // slots of a worker
  MovableWorkers movable_;
  std::vector<OpenNode> nodes_;  // by id
  IdTable<JobId, int> held_by_;  // slots on these nodes
};

}  // namespace tidepool::core
