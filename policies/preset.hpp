// One row of a table of policies: as an engine runs it, and as replays do, which combine it with a place stage; and how
// to make what a row names, through its interface.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/decide/policy.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/place/place.hpp"

namespace tidepool::policies::cluster {

// What the policy is assumed to know, so that only comparable policies are compared.
enum class Knowledge {
  kOracle,       // the true profile at the declared batch, as its authors' evaluation gives it
  kVisited,      // the same, but only of sizes up to the largest that the job itself has held
  kLearnt,       // only what jobs of its kind have measured while they ran; jobs choose their batches
  kLearntByJob,  // only what the job itself has measured, as in Pollux's artifact; jobs choose their batches
};

// Whether a daemon can run the policy: a daemon has no true profile of any job.
enum class Live {
  kNo,               // it needs the true speed of every job
  kByMeasuredSpeed,  // live it uses what has been measured
  kNeedsNoSpeed,     // it looks only at which job holds what, and since when
};

struct AllocationPreset {
  std::string_view name;
  std::string_view summary;                             // one line
  std::string_view source;                              // where the rule was published
  std::unique_ptr<const AllocationPolicy> (*policy)();  // null: it needs an engine's records, so no replay runs it
  std::unique_ptr<const PlaceStage> (*place)();         // null likewise
  Knowledge knowledge;
  Live live = Live::kNo;
  // As an engine runs it; null: by `policy`, asked about all jobs each time (engine/whole_cluster_policy.hpp).
  std::unique_ptr<const core::Policy> (*in_engine)(std::string_view name) = nullptr;
};

[[nodiscard]] constexpr bool runs_live(const AllocationPreset& preset) {
  return preset.live != Live::kNo;
}
[[nodiscard]] constexpr bool is_replayed(const AllocationPreset& preset) {
  return preset.policy != nullptr;
}

}  // namespace tidepool::policies::cluster

namespace tidepool::policies {

template <class Interface, class Entry>
std::unique_ptr<const Interface> make_part() {
  return std::make_unique<const Entry>();
}

// A rule for single jobs as an engine runs it.
template <class Rule, core::LineRule kLine>
std::unique_ptr<const core::Policy> make_rule(std::string_view name) {
  return std::make_unique<const core::RulePolicy>(std::string(name), std::make_unique<const Rule>(), kLine);
}

}  // namespace tidepool::policies
