// The jobs that wait for the size given by a rule, in order: the reconciler's index, so that the cost of a queue
// depends on the room and not on the number of waiting jobs. A job's place depends on that job alone (JobRule::rank).
//
// A job is settled if only room decides about it and its verdict already says what a queue without room would say
// again: it is not examined until there is room for it, or it comes to the front of a strict queue. All other jobs are
// open and examined each time: new jobs, jobs with a price cap or with a state on some node, and jobs that the policy
// holds back. Jobs that need more than the whole cluster are kept outside of the line. All of this is valid only while
// the nodes stay the same; when they change, the whole queue is examined.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>

#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "core/decide/policy.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class WaitingLine {
 public:
  using Place = std::pair<QueueRank, JobId>;
  // What a job needs to start at its smallest size.
  struct Need {
    int slots_per_worker = 1;
    int workers = 1;
    auto operator<=>(const Need&) const = default;
  };

  explicit WaitingLine(bool strict) : strict_(strict) {}

  // The job has changed or was decided about; `seen`: the decision is the newest, so its verdict is up to date.
  void follow(const Job& job, QueueRank rank, bool seen);

  // The job no longer waits.
  void leave(JobId job);

  // In the line's order, each after `after`, or the first one: the next job; the next open one; the next one that is
  // open or whose need `fits`.
  [[nodiscard]] std::optional<Place> next(const std::optional<Place>& after) const;
  [[nodiscard]] std::optional<Place> next_open(const std::optional<Place>& after) const;
  [[nodiscard]] std::optional<Place> next_helped(const std::optional<Place>& after,
                                                 const std::function<bool(const Need&)>& fits) const;

  // The number of jobs before this place.
  [[nodiscard]] std::size_t before(const Place& place) const { return line_.order_of_key(place); }
  [[nodiscard]] std::size_t size() const { return line_.size(); }

 private:
  struct Entry {
    Place place;
    Need need;
  };
  using Line = __gnu_pbds::tree<Place, __gnu_pbds::null_type, std::less<Place>, __gnu_pbds::rb_tree_tag,
                                __gnu_pbds::tree_order_statistics_node_update>;

  bool strict_;
  IdTable<JobId, Entry> entries_;  // the jobs in the line
  Line line_;
  std::set<Place> open_;
  std::map<Need, std::set<Place>> settled_;  // no set is empty
};

}  // namespace tidepool::core
