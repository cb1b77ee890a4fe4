// The jobs that a plan of tidal counts, and what each of them holds.
//
// Invariant: the sums, the room for gangs and the held slots in the node shares follow from the parts that are in: each
// part is taken out with exactly what it was put with.
#pragma once

#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "base/time.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/tidal/gang_room.hpp"
#include "policies/tidal/node_shares.hpp"

namespace tidepool::policies::tidal {

// What a job takes part with, in addition to its row in the market state.
struct Part {
  bool bids = false;  // false: it is a fixed claim that runs
  bool shut = false;  // bids for no slot, since its share of the nodes that it may use is nothing
  bool asks = false;  // requests particular nodes
  bool names =
      false;  // names these nodes itself, so that others move away; false: only its price cap excludes other nodes
  bool moves = false;  // its workers move for a job that requests their nodes
  bool has_own_policy = false;
  bool fits = true;         // an empty cluster would hold it; false: it neither bids nor claims
  cluster::Placement held;  // what it holds on nodes that are up
  int on_closed = 0;        // slots of these on nodes that take no jobs
  Instant bound_until;      // it runs and may not be preempted before then
  int most = 0;             // slots that it requests at most, whatever there is
};

class Participants {
 public:
  // Other nodes, by index. Requires: no job is in, and the node shares were reset to these nodes before.
  void reset(const std::vector<NodeShares::NodeSlots>& nodes);
  [[nodiscard]] bool is_open(int node) const { return is_open_[static_cast<std::size_t>(node)]; }

  // Requires: the job is not in.
  void put(JobId job, Part&& part, NodeShares& shares);
  // False: it was not in.
  bool take_out(JobId job, NodeShares& shares);
  // Requires: it is in, and bids.
  void set_shut(JobId job, bool shut) { parts_.at(job).shut = shut; }

  // Null: it is not in.
  [[nodiscard]] const Part* find(JobId job) const;
  [[nodiscard]] const Part& at(JobId job) const { return parts_.at(job); }
  [[nodiscard]] const IdTable<JobId, Part>& all() const { return parts_; }
  [[nodiscard]] IdSet<JobId> jobs() const;
  // Slots, by jobs that do not bid.
  [[nodiscard]] int claimed() const { return claimed_; }
  // Slots held on nodes that take no jobs.
  [[nodiscard]] int on_closed() const { return on_closed_; }
  [[nodiscard]] const GangRoom& gang_room() const { return gang_room_; }

 private:
  void share_out(const Part& part, int sign, NodeShares& shares) const;

  std::vector<bool> is_open_;  // by node: it takes jobs
  IdTable<JobId, Part> parts_;
  int claimed_ = 0;
  int on_closed_ = 0;
  GangRoom gang_room_;
};

}  // namespace tidepool::policies::tidal
