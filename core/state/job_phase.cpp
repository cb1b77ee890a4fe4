#include "core/state/job_phase.hpp"

namespace tidepool::core {

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
