// What a tenant asks for, as far as decisions need it. Checked before it gets here: every bound
// below holds for a spec inside a fact. What a worker needs to run (program, arguments, environment)
// travels untouched in `document`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool::core {

struct ElasticSpec {
  int min = 1;                                  // workers; the gang runs with at least this many or not at all
  int max = 1;                                  // workers; min <= preferred <= max
  int preferred = 1;                            // the size to start at
  std::vector<int> sizes;                       // ascending, allowed sizes within [min, max]; never empty
  Duration min_runtime = Duration::seconds(0);  // after a (re)start, before preemption or shrink
  Duration cooldown = Duration::seconds(20);    // between two changes of size of this job
  Duration grace = Duration::seconds(30);       // from the signal to leave until the kill

  bool operator==(const ElasticSpec&) const = default;
};

// How a change of membership reaches a job's processes.
enum class ResizeMode {
  kLive,     // their program uses libtidepool: they switch to the next generation while they step
  kRestart,  // it does not: each generation is a new set of processes, and its program keeps its own checkpoints
};

enum class OnResize { kConstant, kLinear, kSqrt, kAdaScale, kCallback, kFixedLocal };

struct BatchSpec {
  std::int64_t global = 1;          // samples a step over all workers
  std::int64_t per_worker_max = 1;  // what one worker holds at once; beyond it gradients accumulate
  OnResize on_resize = OnResize::kConstant;
  std::optional<std::int64_t> global_max;  // >= global; only where the batch follows the size

  bool operator==(const BatchSpec&) const = default;
};

// U(t) = value * (1 - t / zero_at): what finishing at time t is worth; negative beyond zero_at.
struct LinearUtility {
  double value = 0;  // in currency units at t = 0
  Duration zero_at;  // > 0
  bool operator==(const LinearUtility&) const = default;
};

// Straight lines between points; flat before the first, the last line continued after the last.
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
  std::string policy = "default";               // name in the policies' table; "default" = the daemon's
  std::int64_t every_steps = 20;                // K: how many steps a size is measured before it is judged
  int spawn_size = 1;                           // N: workers added or removed at once
  double efficiency_threshold = 0.1;            // S: smallest throughput scaling efficiency worth a worker
  std::optional<LinearUtility> linear_utility;  // at most one of the two utilities
  std::optional<PiecewiseUtility> piecewise_utility;
  std::optional<Money> price_cap;  // per hour, for the whole job

  bool operator==(const ScalingSpec&) const = default;
};

// In place of a straggler detector's name: the job is not judged.
inline constexpr const char* kNoDetector = "none";

struct JobSpec {
  std::string name;
  std::string tenant = "default";
  int priority = 0;  // higher goes first
  bool preemptible = true;
  int gpus_per_worker = 1;  // slots that one worker holds, all on one node
  // It runs only on nodes whose slots are of one of these types (core::Node::slot_type); empty = any.
  std::vector<std::string> slot_types;
  bool pack_node = false;           // prefer all workers on one node
  bool shared_checkpoints = false;  // it names a checkpoint folder, which every node is taken to see
  ResizeMode resize = ResizeMode::kLive;
  ElasticSpec elastic;
  BatchSpec batch;
  ScalingSpec scaling;
  std::string straggler_detector = "default";  // name in the engine's table, or kNoDetector; "default" = the daemon's
  std::optional<std::int64_t> work_samples;    // declared total work, in samples
  std::optional<Duration> deadline;            // from submission: when its user wants that work to be done
  std::optional<Duration> max_duration;        // from the first start
  int max_restarts = 3;                        // how often the job may lose workers it did not give up by itself
  std::string document;                        // canonical JSON of the whole effective spec (api/v1/job_spec.hpp)

  bool operator==(const JobSpec&) const = default;
};

}  // namespace tidepool::core
