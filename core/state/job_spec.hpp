// What a user requests: the whole job file, typed. It is checked before: every bound below holds for a spec inside a
// fact. The file that its user sees is written from this (schedulerd/leader/job_file.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/money.hpp"
#include "base/shared_value.hpp"
#include "base/time.hpp"

namespace tidepool::core {

// A trainer's argument: a text, a number, true or false, or a list of these.
struct Argument {
  using Plain = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;  // unsigned: beyond 2^63 only
  std::variant<Plain, std::vector<Plain>> value;

  bool operator==(const Argument&) const = default;
};
using Arguments = std::map<std::string, Argument>;

// What its workers run: a trainer with arguments, or a command. It does not change during the job's life.
struct RunSpec {
  std::string trainer = {};               // empty with a command
  std::vector<std::string> command = {};  // program and arguments; empty with a trainer
  Arguments args = {};                    // of the trainer
  std::map<std::string, std::string> env = {};
  std::string workdir = {};  // absolute, or empty = the agent's own

  bool operator==(const RunSpec&) const = default;
};

struct CheckpointSpec {
  std::optional<Duration> every = {};  // none = only on request and when parking
  std::string dir = {};  // assumed to be visible on every node, relative to the workdir; empty = the node's own
  int keep = 3;          // number of newest checkpoints that are kept

  bool operator==(const CheckpointSpec&) const = default;
};

struct ElasticSpec {
  int min = 1;                                  // workers; the gang runs with at least this many or not at all
  int max = 1;                                  // workers; min <= preferred <= max
  int preferred = 1;                            // the size at which it starts
  std::vector<int> sizes;                       // ascending, allowed sizes within [min, max]; never empty
  Duration min_runtime = Duration::seconds(0);  // time after a (re)start before preemption or shrink
  Duration cooldown = Duration::seconds(20);    // time between two changes of size of this job
  Duration grace = Duration::seconds(30);       // time from the signal to leave until the kill
  std::optional<int> step;                      // as given, if `sizes` was derived from it
  int group = 1;  // workers that join and leave together, in one domain of placement.key; every size is a multiple

  bool operator==(const ElasticSpec&) const = default;
};

// How a change of membership reaches a job's processes.
enum class ResizeMode {
  kLive,     // their program uses libtidepool: they switch to the next generation while they step
  kRestart,  // it does not: each generation is a new set of processes, and the program manages its own checkpoints
};

enum class OnResize { kConstant, kLinear, kSqrt, kAdaScale, kCallback, kFixedLocal };

struct BatchSpec {
  std::int64_t global = 1;          // samples a step over all workers
  std::int64_t per_worker_max = 1;  // the most that one worker processes at once; beyond it gradients accumulate
  OnResize on_resize = OnResize::kConstant;
  std::optional<std::int64_t> global_max;  // >= global; only where the batch depends on the size

  bool operator==(const BatchSpec&) const = default;
};

// U(t) = value * (1 - t / zero_at): the worth of finishing at time t; negative beyond zero_at.
struct LinearUtility {
  double value = 0;  // in currency units at t = 0
  Duration zero_at;  // > 0
  bool operator==(const LinearUtility&) const = default;
};

// Straight lines between points; flat before the first; the last line continues after the last point.
struct PiecewiseUtility {
  struct Point {
    Duration at;
    double value = 0;
    bool operator==(const Point&) const = default;
  };
  std::vector<Point> points;  // >= 2, times strictly increasing, values strictly decreasing
  bool operator==(const PiecewiseUtility&) const = default;
};

struct ScalingSpec {
  std::string policy = "default";               // name in the table of policies; "default" = the daemon's
  std::int64_t every_steps = 20;                // K: number of steps for which a size is measured before it is judged
  int spawn_size = 1;                           // N: workers added or removed at once
  double efficiency_threshold = 0.1;            // S: smallest throughput scaling efficiency that is worth a worker
  std::optional<LinearUtility> linear_utility;  // at most one of the two utilities
  std::optional<PiecewiseUtility> piecewise_utility;
  std::optional<Money> price_cap;  // per hour, for the whole job

  [[nodiscard]] bool names_policy() const { return policy != "default"; }
  bool operator==(const ScalingSpec&) const = default;
};

// Labels of a node that a job requests: each key with its accepted values.
using Selector = std::map<std::string, std::vector<std::string>>;

// How its workers are placed among domains: groups of nodes with the same value of a label, such as the nodes of a
// rack.
enum class TopologyStrategy {
  kPack,          // in as few domains as room allows
  kSpread,        // in as many as possible, evenly
  kStrictPack,    // all in one, or the job waits
  kStrictSpread,  // at most one in each, or the job waits
};

// Where its workers may be placed.
struct PlacementSpec {
  Selector selector = {};  // only nodes that match all of it (node_labels.hpp); empty = any
  TopologyStrategy strategy = TopologyStrategy::kPack;
  std::string key = "node";  // the label whose values are the domains (node_labels.hpp)
  bool exclusive = false;    // nodes with its workers have no workers of other jobs

  auto operator<=>(const PlacementSpec&) const = default;
};

// In place of a straggler detector's name: the job is not judged.
inline constexpr const char* kNoDetector = "none";

struct JobSpec {
  std::string name;
  std::string tenant = "default";
  int priority = 0;  // higher is first
  bool preemptible = true;
  int gpus_per_worker = 1;  // slots of one worker, all on one node
  // The job runs only on nodes whose slots are of one of these types (core::Node::slot_type); empty = any.
  std::vector<std::string> slot_types;
  // Expected relative speed of a worker on each of these types, as its user states; empty = not stated.
  std::map<std::string, double> type_speeds;
  bool mixed_types = false;  // its workers may be on slots of several types at once; else all are on one type
  std::vector<std::string> slot_types_as_given;  // list with "any" and other types, which means any; else empty
  std::optional<int> cpus;                       // of a worker; none = it requests no CPUs of its own
  std::optional<std::int64_t> memory;            // bytes, of a worker; none = the shares of its slots
  bool pack_node = false;  // its workers are gathered on few nodes, whatever the cost of moving them
  PlacementSpec placement;
  // Excludes nodes with more expensive slots: what a price cap leaves per slot, in the copy of a job that may use only
  // such nodes. In no job file, and not stored.
  std::optional<Money> slot_price_max = {};
  SharedValue<RunSpec> run;
  CheckpointSpec checkpoint;
  ResizeMode resize = ResizeMode::kLive;
  ElasticSpec elastic;
  BatchSpec batch;
  ScalingSpec scaling;
  std::string straggler_detector = "default";  // name in the engine's table, or kNoDetector; "default" = the daemon's
  std::optional<std::int64_t> work_samples;    // declared total work, in samples
  std::optional<Duration> deadline;            // from submission: when its user wants that work to be finished
  std::optional<Duration> max_duration;        // from the first start
  int max_restarts = 3;                        // how often the job may lose workers that it did not release on its own
  std::map<std::string, std::string> labels;
  // For fields that its file omits and for which a tenant has a default, such as "elastic.cooldown": the tenant of that
  // default.
  std::map<std::string, std::string> defaults_from;

  // Slots of its smallest size. Requires: elastic.sizes is not empty.
  [[nodiscard]] int smallest_slots() const { return elastic.sizes.front() * gpus_per_worker; }
  bool operator==(const JobSpec&) const = default;
};

}  // namespace tidepool::core
