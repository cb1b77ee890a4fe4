// The fields of a job's phase. Private to the core's codecs.
#pragma once

#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/codec/archive.hpp"
#include "core/codec/codec_fields.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

inline auto names_of(JobState) {
  const auto name = [](JobState state) { return codec::EnumName<JobState>{state, to_text(state)}; };
  return std::array{name(JobState::kPending),   name(JobState::kStarting),   name(JobState::kRunning),
                    name(JobState::kResizing),  name(JobState::kSuspending), name(JobState::kSuspended),
                    name(JobState::kSucceeded), name(JobState::kFailed),     name(JobState::kCancelled)};
}
void fields(auto& archive, codec::Like<Transition> auto& transition) {
  archive("newcomers", transition.joining_workers);
  archive("leavers", transition.leaving_workers);
  archive("since", transition.since);
  archive("reason", transition.reason);
  archive("replaces", transition.replaces);
  archive("from_size", transition.from_size);
  archive("to_size", transition.to_size);
  archive("committed", transition.committed);
}

// A phase is stored as its state and the data of that state.
struct StoredPhase {
  JobState state;
  std::optional<Transition> transition;
  std::optional<Instant> finished_at;

  explicit StoredPhase(const JobPhase& phase) : state(phase.state()), finished_at(phase.ended_at()) {
    if (const Transition* under_way = phase.transition()) transition = *under_way;
  }
  // None: the data that the state requires is missing.
  [[nodiscard]] std::optional<JobPhase> phase() const {
    if (is_final(state)) {
      return finished_at ? std::optional<JobPhase>(phase::Ended{state, *finished_at}) : std::nullopt;
    }
    switch (state) {
      case JobState::kStarting: return phase::Starting{transition};
      case JobState::kRunning: return phase::Running{};
      case JobState::kResizing:
        return transition ? std::optional<JobPhase>(phase::Resizing{*transition}) : std::nullopt;
      case JobState::kSuspending: return phase::Suspending{};
      case JobState::kSuspended: return phase::Suspended{};
      default: return phase::Pending{};
    }
  }
};

template <class Archive, codec::Like<Job> AnyJob>
void phase_fields(Archive& archive, AnyJob& job) {
  StoredPhase stored(job.phase);
  archive("state", stored.state);
  archive("transition", stored.transition);
  archive("finished_at", stored.finished_at);
  if constexpr (!std::is_const_v<AnyJob>) {
    if (auto phase = stored.phase()) {
      job.phase = *std::move(phase);
    } else {
      archive.fail("state", "lacks its transition or its end");
    }
  }
}

}  // namespace tidepool::core
