// What a job is doing, with the data that only this phase has: a change of membership while it starts or resizes, and
// the time of its end. A phase without its data cannot be constructed; job_state.hpp has the legal changes.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// The names are those of the API; the table of legal changes is in job_state.cpp.
enum class JobState {
  kPending,     // holds no slots, waits for them
  kStarting,    // first workers boot; no step done since
  kRunning,     // steps at its generation, no change in progress
  kResizing,    // steps at its generation while joining workers boot or leaving workers wait for the switch
  kSuspending,  // ordered to park
  kSuspended,   // holds no slots, waits for the user
  kSucceeded,
  kFailed,
  kCancelled,
};
[[nodiscard]] constexpr bool is_final(JobState state) {
  return state >= JobState::kSucceeded;
}
[[nodiscard]] const char* to_text(JobState state);

// A change of membership in progress: joining workers boot, leaving workers wait.
struct Transition {
  std::vector<WorkerId> joining_workers;
  std::vector<WorkerId> leaving_workers;
  Instant since;
  Reason reason;
  bool replaces = false;  // workers leave and others take their places
  int from_size = 0;
  int to_size = 0;
  bool committed = false;  // its generation is committed; the transition ends when the members have switched
};

namespace phase {
struct Pending {};
struct Starting {
  std::optional<Transition> transition;  // none: it was dropped, and the job starts with the workers that it has
};
struct Running {};
struct Resizing {
  Transition transition;
};
struct Suspending {};
struct Suspended {};
struct Ended {
  JobState how = JobState::kSucceeded;  // a final state
  Instant at;
};
}  // namespace phase

class JobPhase {
 public:
  using Any = std::variant<phase::Pending, phase::Starting, phase::Running, phase::Resizing, phase::Suspending,
                           phase::Suspended, phase::Ended>;
  JobPhase() = default;
  // Requires of an ended phase: a final state.
  template <class Phase>
    requires std::is_constructible_v<Any, Phase>
  JobPhase(Phase phase) : phase_(std::move(phase)) {}  // NOLINT(google-explicit-constructor): a phase is one of these

  // Read for every job in every plan, so it is derived from the variant's index.
  [[nodiscard]] JobState state() const {
    const auto* end = std::get_if<phase::Ended>(&phase_);
    return end != nullptr ? end->how : static_cast<JobState>(phase_.index());
  }
  // Null: no change of membership is in progress.
  [[nodiscard]] const Transition* transition() const;
  [[nodiscard]] Transition* transition();
  [[nodiscard]] std::optional<Instant> ended_at() const;

 private:
  template <JobState kState, class Phase>
  static constexpr bool kIsAt =
      std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(kState), Any>, Phase>;
  static_assert(kIsAt<JobState::kPending, phase::Pending> && kIsAt<JobState::kStarting, phase::Starting> &&
                kIsAt<JobState::kRunning, phase::Running> && kIsAt<JobState::kResizing, phase::Resizing> &&
                kIsAt<JobState::kSuspending, phase::Suspending> && kIsAt<JobState::kSuspended, phase::Suspended>);

  Any phase_;
};

}  // namespace tidepool::core
