// How the engine judges the compute times of one step. Implemented in straggler/, joined by detector_of.hpp. Safe rule:
// a detector stores nothing; what it must remember of a worker is in Measurements::detector_state, so it is part of the
// state, follows from the facts, and is the same after a restart.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/job_spec.hpp"

namespace tidepool::core {

struct StragglerFinding {
  double score = 1;        // the worker's speed as a share of the others' speed
  double bar = 0;          // a worker with a lower score is a straggler
  bool slow = false;       // the worker is a straggler
  std::int64_t steps = 0;  // for how many steps it has been one; 0 while not slow
};

class StragglerDetector {
 public:
  virtual ~StragglerDetector() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Judges one step of one job: compute times in microseconds and samples by rank, and the detector's memory of each
  // rank's worker (empty for a new worker), which the call updates. Returns the findings by rank.
  [[nodiscard]] virtual std::vector<StragglerFinding> judge(
      const std::vector<std::int64_t>& compute_us, const std::vector<std::int64_t>& samples,
      const std::vector<std::vector<double>*>& memories) const = 0;
};

// `named` maps the names that jobs may request; `usual` judges jobs that request none, unless a fact has named another
// detector for them (DetectorConfigured). So findings follow from the facts, even if a daemon with another
// configuration replays the journal.
struct StragglerDetectors {
  std::shared_ptr<const StragglerDetector> usual;
  std::map<std::string, std::shared_ptr<const StragglerDetector>> named = {};

  [[nodiscard]] bool knows(const std::string& name) const { return named.contains(name) || usual->name() == name; }
  // `configured`: ClusterState::straggler_detector. Null for a job that is not judged.
  [[nodiscard]] const StragglerDetector* detector_for(const JobSpec& spec, const std::string& configured) const;
};

}  // namespace tidepool::core
