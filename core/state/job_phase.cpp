#include "core/state/job_phase.hpp"

#include "base/overloaded.hpp"

namespace tidepool::core {

JobState JobPhase::state() const {
  return std::visit(Overloaded{
                        [](const phase::Pending&) { return JobState::kPending; },
                        [](const phase::Starting&) { return JobState::kStarting; },
                        [](const phase::Running&) { return JobState::kRunning; },
                        [](const phase::Resizing&) { return JobState::kResizing; },
                        [](const phase::Suspending&) { return JobState::kSuspending; },
                        [](const phase::Suspended&) { return JobState::kSuspended; },
                        [](const phase::Ended& end) { return end.how; },
                    },
                    phase_);
}

const Transition* JobPhase::transition() const {
  if (const auto* resizing = std::get_if<phase::Resizing>(&phase_)) return &resizing->transition;
  const auto* starting = std::get_if<phase::Starting>(&phase_);
  return starting != nullptr && starting->transition ? &*starting->transition : nullptr;
}

Transition* JobPhase::transition() {
  return const_cast<Transition*>(std::as_const(*this).transition());  // NOLINT: it is not const, *this is not
}

std::optional<Instant> JobPhase::ended_at() const {
  const auto* end = std::get_if<phase::Ended>(&phase_);
  return end != nullptr ? std::optional(end->at) : std::nullopt;
}

}  // namespace tidepool::core
