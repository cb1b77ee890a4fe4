// What a policy that decides about all jobs at once sees: plain rows, one per node and one per job that has not ended.
// The rows are copies; a policy that keeps nothing and reads only these gives the same answer in the daemon and in the
// simulator. Everything that it must remember between rounds is in `JobRow::mark`, which its caller stores.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/job_spec.hpp"
#include "core/state/plan.hpp"

namespace tidepool::policies::cluster {

// The part of a job on one node.
struct Share {
  int node = 0;   // index into View::nodes
  int slots = 0;  // >= 1
  bool operator==(const Share&) const = default;
};
// In rank order, every node at most once; empty = the job holds nothing.
using Placement = std::vector<Share>;
[[nodiscard]] inline int size_of(const Placement& placement) {
  int size = 0;
  for (const Share& share : placement) size += share.slots;
  return size;
}

// What determines a step time when the nodes of a type are alike: how many workers on how many nodes of which type.
struct Shape {
  int nodes = 1;
  int size = 1;  // >= nodes
  int type = 0;  // index into View::types; 0 also where all slots are alike
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
  // Whether anything was measured on slots of this type. If not, its answers for the type mean nothing, and 0 does not
  // mean that the job cannot run there.
  [[nodiscard]] virtual bool knows(int /*type*/) const { return true; }
};

using core::Mark;

// A kind of slot, such as a model of GPU.
struct SlotType {
  std::string name;
  double price_per_hour = 0;  // of one slot; 0 = not known
};

struct NodeRow {
  NodeId id;
  int slots = 0;               // all of them, held or free
  int type = 0;                // of its slots: index into View::types
  std::string slot_type = {};  // what job files call its slots; empty = not known
  double price_per_hour = 0;   // of one slot; 0 = not known
};

// How long a job is paused by a change, by kind of change: measured on the job, or a stated estimate.
struct TransitionCosts {
  Duration grow;
  Duration shrink;
  Duration move;   // as many workers, on other nodes
  Duration start;  // from nothing, until the first step; also after it was preempted
  // Further costs of a change, where known; zero = none.
  Duration boot;    // of joining workers: they hold their slots for this long while the job goes on as it was
  Duration resume;  // the cost of releasing everything and getting it back later: parking, and a start
  bool operator==(const TransitionCosts&) const = default;
};

// For sizes of one class (core/state/measured/type_records.hpp) at which changes were measured.
struct SizeCosts {
  int workers = 1;  // the smallest of them
  TransitionCosts costs;
};

struct JobRow {
  JobId id;
  std::string tenant = "default";
  Instant submitted;
  double weight = 1;
  Placement placement;
  Duration held;             // for how long it has held slots
  double slot_seconds = 0;   // attained service: slots x time held
  int largest_seen = 0;      // the largest size at which a job of its kind was measured
  int resizes = 0;           // changes of placement after the first
  int size_wanted = 1;       // declared by the user
  int size_min = 1;          // it does not run below this size
  int size_max = 1;          // above it a worker would get less than its smallest batch
  bool grows_later = false;  // further sizes open once it was measured, even where size_min = size_max now
  // The allowed sizes, ascending, in slots like all sizes; empty = every size from size_min to size_max.
  std::vector<int> sizes;
  // The smallest size in its job file above size_max, in slots; 0 = size_max is the largest of them.
  int size_beyond = 0;
  std::optional<core::Reason> bound = {};  // why it may not have that size; none = its measurements decide, or unknown
  std::optional<std::vector<int>> nodes;   // indices of View::nodes that it may use; none = all
  // It may use slots of these types only (NodeRow::slot_type); empty = any. `nodes` is already limited to them, and to
  // the labels that it requests.
  std::vector<std::string> types_asked = {};
  int slots_per_worker = 1;                   // a worker's slots are on one node; sizes and shares are multiples of it
  int priority = 0;                           // higher goes first; `weight` already counts it in
  bool preemptible = true;                    // false: it keeps size_min once it has started
  int pinned = 0;                             // the size that its user has pinned; 0 = none
  bool resize_blocked = false;                // its size must not change now
  TransitionCosts costs;                      // to sizes at which no change was measured
  std::vector<SizeCosts> costs_by_size = {};  // ascending, those that differ from `costs`
  std::optional<double> steps_left;           // at the declared batch, if the user has declared the work
  double steps_done = 0;                      // at the declared batch
  std::optional<double> useful_left;          // in the steps of SpeedModel::goodput, if declared
  // The same, as estimated from ended jobs of its kind (models/learnt_work.hpp); none before one has ended.
  std::optional<double> useful_expected;
  std::optional<Instant> deadline;             // when its user wants it to have ended
  Duration transition;                         // how long it is paused when its placement changes
  const SpeedModel* speed = nullptr;           // never null in a view
  const core::ScalingSpec* scaling = nullptr;  // what its user sets for an autoscaling engine; null = nothing
  double slot_price = 0;                       // mean price of an hour of a slot of the pool; 0 = unknown
  Mark mark;
};

// Of a size between size_min and size_max.
[[nodiscard]] bool may_have(const JobRow& job, int size);
// Of changes to a size, in slots.
[[nodiscard]] const TransitionCosts& costs_at(const JobRow& job, int size);
// The largest size that the job may have and that is not above `limit`; 0 = none.
[[nodiscard]] int largest_size(const JobRow& job, int limit);
// The smallest size that the job may have and that is not below `least`; 0 = none.
[[nodiscard]] int smallest_size(const JobRow& job, int least);

// A tenant that shares the pool, for a policy file that divides the pool between tenants. Slots of a tenant with others
// below it are sums.
struct TenantRow {
  std::string name;
  int parent = -1;  // index of an earlier row; -1 = directly under the pool
  int guarantee = 0;
  std::int64_t weight = 1;
  std::optional<int> borrow = std::nullopt;  // none = no limit
  std::optional<int> lend = std::nullopt;    // none = all
  std::int64_t wanted = 0;                   // slots that its jobs could use, as far as that is known
  int held = 0;
  double loan = 0;  // slots recently held beyond the guarantee while others wanted more
  bool is_leaf = true;
};

// A pool whose nodes come and go, for a policy file that computes how many nodes it should have.
struct PoolRow {
  std::string name;
  std::string slot_type = {};  // of its nodes' slots; empty = what they report
  int slots = 1;               // of a node
  double price_per_hour = 0;   // of one slot
  double worth_per_hour = 0;   // of one slot that is fully used, as set
  int min = 0;                 // nodes
  int max = 0;
  bool spot = false;      // its nodes may be taken away at any time
  Duration lead;          // from requesting a node to its joining
  Duration idle_after;    // a node that has held nothing for this long may be released
  int nodes = 0;          // present or on their way; without those that are leaving
  int coming = 0;         // of `nodes`: have not joined yet
  int leaving = 0;        // leaving; they count against `max` and cost money until they are gone
  int idle = 0;           // of `nodes`: hold nothing
  Duration idle_longest;  // for how long the node that has been idle longest has held nothing
  Duration backoff;       // for this long it gets no node, because attempts have failed
  int backlog_jobs = 0;   // that wait, could be on nodes of the pool, and fit on no node that is present or coming
  int backlog_slots = 0;  // that these lack
  double more_worth = 0;  // of an hour of each slot of one more node, to the jobs that run
  int standard = 0;       // nodes that it would have by the built-in rule
};

struct View {
  Instant now;
  std::vector<NodeRow> nodes;   // by id
  std::vector<JobRow> jobs;     // by submission, then id
  std::vector<SlotType> types;  // with different speeds, the fastest first; empty = all slots count alike
  Mark mark;                    // the policy's own note on the cluster
  // What each ended job took, in any order. Not owned: their number keeps growing, so the view's maker keeps them.
  std::span<const double> ended_slot_seconds;
  std::vector<TenantRow> tenants = {};  // each after its parent; empty where tenants do not share the pool
  std::vector<PoolRow> pools = {};      // by name; empty where no policy file computes their number of nodes
  bool explained = true;                // false: scores and losing sizes are not read, so none need be worked out

  [[nodiscard]] int slots() const;
  [[nodiscard]] int slots_of_type(int type) const;
  [[nodiscard]] int slots_per_node() const;  // of the largest node; 1 where there is none
  // The price of all these slots for an hour; slots without a price count as free.
  [[nodiscard]] double price_per_hour(const Placement& placement) const;
  // How many slots of each type a placement has, by name; slots of unknown type are left out.
  [[nodiscard]] std::map<std::string_view, int> types_held(const Placement& placement) const;
};

}  // namespace tidepool::policies::cluster
