// What a policy that decides about all jobs at once sees: plain rows, one per node and one per job that has not ended.
// The rows are copies; a policy that keeps nothing and reads only these gives the same answer in the daemon and in the
// simulator. Everything it must remember from round to round is in `JobRow::mark`, which its caller stores.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace tidepool::policies::cluster {

// The part of a job that lies on one node.
struct Share {
  int node = 0;   // index into View::nodes
  int slots = 0;  // >= 1
  bool operator==(const Share&) const = default;
};
// In rank order, every node at most once; empty = the job holds nothing.
using Placement = std::vector<Share>;
[[nodiscard]] int size_of(const Placement& placement);

// What a step time depends on when nodes are alike: how many workers on how many nodes.
struct Shape {
  int nodes = 1;
  int size = 1;  // >= nodes
};
// `size` workers on as few nodes as possible.
[[nodiscard]] constexpr Shape packed(int size, int slots_per_node) {
  return {.nodes = (size + slots_per_node - 1) / slots_per_node, .size = size};
}

// How fast a job would train: an oracle in the simulator, a fit of measurements in the daemon. Pure.
class SpeedModel {
 public:
  virtual ~SpeedModel() = default;
  // Seconds a step at the job's declared global batch; infinity where it cannot run or nothing is known.
  [[nodiscard]] virtual double step_seconds(Shape shape) const = 0;
  // Useful steps a second at the batch that suits this shape best, a useful step being what one step at the job's
  // initial batch is worth (Qiao et al., "Pollux", OSDI 2021, section 3); real steps for a job whose batch is fixed.
  // 0 where it cannot run; an optimistic guess where nothing is known.
  [[nodiscard]] virtual double goodput(Shape shape) const { return 1 / step_seconds(shape); }
};

// A policy's note on a job, kept by the caller and handed back in the next round.
struct Mark {
  int level = 0;  // such as the queue that the job is in
  Instant since;  // when it came there
  bool operator==(const Mark&) const = default;
};

struct NodeRow {
  NodeId id;
  int slots = 0;  // all of them, whoever holds them
};

struct JobRow {
  JobId id;
  Instant submitted;
  double weight = 1;
  Placement placement;
  Duration held;                      // for how long it has held slots
  double slot_seconds = 0;            // attained service: slots x time held
  int largest_seen = 0;               // the largest size at which a job of its kind was measured
  int resizes = 0;                    // changes of placement after the first
  int size_wanted = 1;                // declared by the user
  int size_max = 1;                   // above it a worker would get less than its smallest batch
  std::optional<double> steps_left;   // at the declared batch, if the user has declared the work
  std::optional<double> useful_left;  // in the steps of SpeedModel::goodput, if declared
  Duration transition;                // how long it stands still when its placement changes
  const SpeedModel* speed = nullptr;  // never null in a view
  Mark mark;
};

struct View {
  Instant now;
  std::vector<NodeRow> nodes;  // by id
  std::vector<JobRow> jobs;    // by submission, then id

  [[nodiscard]] int slots() const;
  [[nodiscard]] int slots_per_node() const;  // of the largest node
};

}  // namespace tidepool::policies::cluster
