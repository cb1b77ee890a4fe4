// What it costs to move a job's workers elsewhere, as far as the job alone decides it. It is kept between decisions, so
// that the workers that are cheapest to move are found without looking at all of them.
//
// Rule. What is kept of a job follows from the job and its workers in the state; the owner updates it for every job
// that changes and removes jobs that leave. It is no part of the state.
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

// Its workers once what is under way is done, so that accepting a decision changes nothing of it.
[[nodiscard]] std::vector<WorkerId> workers_to_be(const Job& job);
[[nodiscard]] int size_to_be(const Job& job);
// Slot-seconds that moving so many of its workers takes from the job.
[[nodiscard]] double cost_of_moving(const Job& job, int workers);
// A live job has its state in its workers: a single one can hand it on only to a second one beside it.
[[nodiscard]] bool can_hand_on(const Job& job);
// By itself; whether it has room elsewhere is another question.
[[nodiscard]] bool may_move(const Job& job);

class MoveCosts {
 public:
  // A worker that holds its slots, is not on its way out, and whose job may move.
  struct Mover {
    double cost_s = 0;  // of moving it alone, slot-seconds
    NodeId node;
    WorkerId worker;
    auto operator<=>(const Mover&) const = default;
  };
  using Held = std::pair<int, JobId>;  // slots, below 0 so that most come first

  void follow(const ClusterState& state, const Job& job);
  void forget(JobId job);

  // Of these slots: null = of any type.
  [[nodiscard]] const std::set<Mover>& cheapest_first(const std::string* type = nullptr) const {
    return on(type).cheapest_first;
  }
  [[nodiscard]] const std::set<Held>& most_held_first(const std::string* type = nullptr) const {
    return on(type).most_held_first;
  }
  // Their slots come free without a further decision.
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
