// All id types. The engine assigns numbers in the order of the journal, so the same journal gives the same ids on every
// machine.
#pragma once

#include <cstdint>

#include "base/strong_id.hpp"

namespace tidepool {

struct JobTag {
  static constexpr const char* kPrefix = "job";
};
struct NodeTag {
  static constexpr const char* kPrefix = "node";
};
struct WorkerTag {
  static constexpr const char* kPrefix = "w";
};
struct DecisionTag {
  static constexpr const char* kPrefix = "dec";
};

using JobId = StrongId<JobTag>;
using NodeId = StrongId<NodeTag>;
using WorkerId = StrongId<WorkerTag>;
using DecisionId = StrongId<DecisionTag>;

// Generations of one job count up from 1; 0 means "no generation yet".
using GenerationNumber = std::uint32_t;

// Events count up from 1 over the life of a state directory, without gaps.
using EventSeq = std::uint64_t;

}  // namespace tidepool
