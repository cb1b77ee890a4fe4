// Whether workers of several slots find room: the free slots of every node while every job keeps what it holds. The
// engine places workers and its records tell sizes, so a plan lays nothing out; but slots that lie scattered are no
// room for a gang, and one that is promised them would keep all jobs behind it waiting, unless others of lower
// priorities make room for it as soon as they may.
//
// Invariant: what is free on a node that takes jobs is its slots less those of all placements that were put and not
// taken out again. A node that takes none has nothing free, whatever is put there.
#pragma once

#include <optional>
#include <vector>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::tidal {

class GangRoom {
 public:
  GangRoom() = default;
  // Slots by node; none = it takes no jobs.
  explicit GangRoom(const std::vector<std::optional<int>>& slots);

  // `moves`: it is held by workers that move for a job that asks for their nodes.
  void put(const cluster::Placement& held, bool moves = false) { hold(held, moves, 1); }
  void take_out(const cluster::Placement& held, bool moves = false) { hold(held, moves, -1); }

  // A job that is to have another size than it holds.
  struct Change {
    const cluster::JobRow* row = nullptr;
    int size = 0;                             // slots
    double worth = 0;                         // of each of them
    const std::vector<int>* nodes = nullptr;  // that it may be on, by index; null = all
    bool asks = false;                        // for just these: others move away
    bool moves = false;                       // as it was put
  };
  // One that is to keep what it holds, and could give it up.
  struct KeepingJob {
    const cluster::JobRow* row = nullptr;
    double worth = 0;    // of each of its slots
    bool moves = false;  // as it was put
    Instant until = {};  // not before then, and only for a higher priority; none = now
  };
  struct Node {
    int free = 0;
    int movable = 0;  // held by workers that move
  };

  // How much of each change there is room for. A job that is to have less gives up its last slots. Of those that are to
  // have more the widest workers go first, then the largest sizes, then the oldest job; each worker goes to the fullest
  // node with room. No job that is to have more ends up with less than it holds.
  // And which stayers leave for a job that holds nothing and found no room: on the node where the fewest slots are
  // given up for a worker, those to which a slot is worth least, and less than to that job; none unless all its workers
  // find room then. What is bought fits into all slots together, so they find room elsewhere, unless they
  // are gangs themselves, which come after.
  // Where it would find room for its smallest size only once some that may not leave yet do, it has that size and waits
  // for them: on the node where the last of them may leave first. Until then what is free there is no other gang's.
  struct Fit {
    std::vector<int> sizes;  // slots, by change
    std::vector<JobId> leave;
    std::vector<JobId> wait;
    int held = 0;  // slots of those that leave for these
  };
  [[nodiscard]] Fit fit(const std::vector<Change>& changes, const std::vector<KeepingJob>& stayers = {}) const;

 private:
  void hold(const cluster::Placement& held, bool moves, int sign);

  std::vector<std::optional<Node>> free_;  // none = it takes no jobs
};

}  // namespace tidepool::policies::tidal
