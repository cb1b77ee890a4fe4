// How the engine judges the compute times of one step. Implemented in straggler/, joined by detector_of.hpp.
// Safe rule: a detector keeps nothing; what it must remember of a worker lies in Measurements::detector_state, so it is
// part of the state, follows from the facts, and is the same after a restart.
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
  double score = 1;        // the worker's speed as a share of the others'
  double bar = 0;          // a straggler is slower than this
  bool slow = false;       // the worker is a straggler
  std::int64_t steps = 0;  // for how many steps it has been; 0 while not slow
};

class StragglerDetector {
 public:
  virtual ~StragglerDetector() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // One step of one job: compute times in microseconds and samples by rank, and what the detector remembers of each
  // rank's worker (empty for a new one), which it brings up to date. Findings by rank.
  [[nodiscard]] virtual std::vector<StragglerFinding> judge(
      const std::vector<std::int64_t>& compute_us, const std::vector<std::int64_t>& samples,
      const std::vector<std::vector<double>*>& memories) const = 0;
};

// `named` maps the names that jobs may ask for, `usual` judges those that ask for none, unless a fact has named another
// for them (DetectorConfigured): findings follow from the facts, also where a journal is replayed by a daemon that is
// configured otherwise.
struct StragglerDetectors {
  std::shared_ptr<const StragglerDetector> usual;
  std::map<std::string, std::shared_ptr<const StragglerDetector>> named = {};

  [[nodiscard]] bool knows(const std::string& name) const { return named.contains(name) || usual->name() == name; }
  // `configured`: ClusterState::straggler_detector. Null for a job that is not to be judged.
  [[nodiscard]] const StragglerDetector* detector_for(const JobSpec& spec, const std::string& configured) const;
};

}  // namespace tidepool::core
