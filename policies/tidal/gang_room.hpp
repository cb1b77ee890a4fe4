// Whether workers of several slots find room: the free slots of every node while every job keeps what it holds. The
// engine places workers, and its records contain sizes, so a plan lays nothing out. But scattered slots are no room for
// a gang, and a gang that is promised them would keep all jobs behind it waiting, unless others of lower priorities
// make room for it as soon as they may.
//
// Invariant: what is free on a node that takes jobs is its slots minus those of all placements that were put and not
// taken out again. A node that takes no jobs has nothing free, whatever is put there.
#pragma once

#include <optional>
#include <vector>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::tidal {

class GangRoom {
 public:
  GangRoom() = default;
  // Slots by node; none = the node takes no jobs.
  explicit GangRoom(const std::vector<std::optional<int>>& slots);

  // `moves`: the slots are held by workers that move for a job that requests their nodes.
  void put(const cluster::Placement& held, bool moves = false) { hold(held, moves, 1); }
  void take_out(const cluster::Placement& held, bool moves = false) { hold(held, moves, -1); }

  // A job that should have another size than it holds.
  struct Change {
    const cluster::JobRow* row = nullptr;
    int size = 0;                             // slots
    double worth = 0;                         // of each of them
    const std::vector<int>* nodes = nullptr;  // nodes that it may use, by index; null = all
    bool asks = false;                        // it requests exactly these nodes: others move away
    bool moves = false;                       // as it was put
  };
  // A job that should keep what it holds, and could release it.
  struct KeepingJob {
    const cluster::JobRow* row = nullptr;
    double worth = 0;    // of each of its slots
    bool moves = false;  // as it was put
    Instant until = {};  // does not leave before then, and only for a higher priority; none = it can leave now
  };
  struct Node {
    int free = 0;
    int movable = 0;  // held by workers that move
  };

  // How much of each change has room. A job that should have less releases its last slots. Among jobs that should have
  // more, the widest workers go first, then the largest sizes, then the oldest job; each worker goes to the fullest
  // node with room. No job that should have more ends up with less than it holds.
  // Also which stayers leave for a job that holds nothing and found no room: on the node where the fewest slots are
  // released for a worker, those to which a slot is worth least, and less than to that job; none unless all its workers
  // then find room. What is bought fits into all slots together, so the stayers find room elsewhere, unless they are
  // gangs themselves, which come after.
  // If the job would find room for its smallest size only once some stayers leave that may not leave yet, it gets that
  // size and waits for them: on the node where the last of them may leave first. Until that time no other gang gets
  // what is free there.
  struct Fit {
    std::vector<int> sizes;  // slots, by change
    std::vector<JobId> leave;
    std::vector<JobId> wait;
    int held = 0;  // slots of the jobs that leave for these
  };
  [[nodiscard]] Fit fit(const std::vector<Change>& changes, const std::vector<KeepingJob>& stayers = {}) const;

 private:
  void hold(const cluster::Placement& held, bool moves, int sign);

  std::vector<std::optional<Node>> free_;  // none = it takes no jobs
};

}  // namespace tidepool::policies::tidal
