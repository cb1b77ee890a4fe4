// The cost of moving a job's workers elsewhere, as far as it depends on the job alone. It is kept between decisions, so
// that the cheapest workers to move are found without examining all of them.
//
// Rule. The data of a job follows from the job and its workers in the state; the owner updates it for every job that
// changes and removes jobs that leave. It is no part of the state.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Its workers after the changes under way, so that accepting a decision does not change the result.
[[nodiscard]] std::vector<WorkerId> workers_to_be(const Job& job);
[[nodiscard]] int size_to_be(const Job& job);
// Slot-seconds that moving this many of its workers costs the job.
[[nodiscard]] double cost_of_moving(const Job& job, int workers);
// A live job keeps its state in its workers: a single worker can hand it over only to a second one that runs next to
// it.
[[nodiscard]] bool can_hand_on(const Job& job);
// Whether the job allows moves; whether there is room elsewhere is checked separately.
[[nodiscard]] bool may_move(const Job& job);

class MoveCosts {
 public:
  // A worker that holds its slots, is not leaving, and whose job may move.
  struct Mover {
    double cost_s = 0;  // of moving only this worker, slot-seconds
    NodeId node;
    WorkerId worker;
    auto operator<=>(const Mover&) const = default;
  };
  using Held = std::pair<int, JobId>;  // negated slots, so that most come first

  void follow(const ClusterState& state, const Job& job);
  void forget(JobId job);

  // For slots of this type; null = any type.
  [[nodiscard]] const std::set<Mover>& cheapest_first(const std::string* type = nullptr) const {
    return on(type).cheapest_first;
  }
  [[nodiscard]] const std::set<Held>& most_held_first(const std::string* type = nullptr) const {
    return on(type).most_held_first;
  }
  // Workers whose slots become free without a further decision.
  [[nodiscard]] const IdSet<WorkerId>& on_their_way_out() const { return on_their_way_out_; }

 private:
  struct Share {
    int held = 0;
    std::vector<Mover> movers;
    bool operator==(const Share&) const = default;
  };
  struct OfJob {
    std::map<std::string, Share> shares;  // by type of slot
    std::vector<WorkerId> on_their_way_out;
    bool operator==(const OfJob&) const = default;
    [[nodiscard]] Share all() const;  // of any type
  };
  struct Sorted {
    std::set<Mover> cheapest_first;
    std::set<Held> most_held_first;
    void add(JobId job, const Share& share);
    void erase(JobId job, const Share& share);
  };
  [[nodiscard]] static OfJob found_of(const ClusterState& state, const Job& job);
  [[nodiscard]] const Sorted& on(const std::string* type) const;

  IdTable<JobId, OfJob> jobs_;  // that have workers
  Sorted all_;
  std::map<std::string, Sorted> by_type_;  // of slots
  IdSet<WorkerId> on_their_way_out_;
};

}  // namespace tidepool::core
