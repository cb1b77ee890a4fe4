// Finds the workers that would have to move so that a job that waits for particular nodes has room there: the moves
// that cost least, beside what is free there and what comes free without them.
//
// Rules. Whether the workers of a job may move is found once for that job, and whether they have room elsewhere once
// for all jobs that ask for the same. For single slots the workers are taken from what the engine keeps in order of
// cost (place/move_costs.hpp): none is looked at that costs more than the last one taken. For wider workers all workers
// on these nodes are looked at once, and the nodes once for each worker that still lacks room.
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

// Whose workers may move for the job that waits, sooner or later, and at what cost.
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

  // Once. Requires: the workers of the job have no rules together.
  [[nodiscard]] TypeRoom find();

 private:
  struct Mover {
    double cost_s = 0;
    WorkerId worker;
    int slots = 0;
  };
  // A node on which the waiting job may run.
  struct OpenNode {
    int open = 0;               // slots that are free, or will be
    std::vector<Mover> movers;  // cheapest first
    std::size_t moved = 0;      // so many of them are taken to have left
  };
  // By which one more worker of the waiting job fits on the node.
  struct NextMoves {
    OpenNode* node = nullptr;
    std::size_t moved = 0;  // of its movers, with those that are taken already
    double cost_s = 0;
  };

  [[nodiscard]] bool is_open(const Node& node) const;
  [[nodiscard]] bool is_on_open_node(const Worker& worker) const;
  [[nodiscard]] int needed() const { return waiting_.spec.elastic.sizes.front(); }
  // Null: it may be on more.
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
  IdTable<JobId, int> held_by_;  // slots of these nodes
};

}  // namespace tidepool::core
