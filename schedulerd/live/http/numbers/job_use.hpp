// What jobs have used, as of now: an account is charged when something happens to its job, and between that a job only
// goes on holding what it holds. Pure.
#pragma once

#include "core/state/cluster_state.hpp"

namespace tidepool::live::http {

[[nodiscard]] core::Used used_now(const core::ClusterState& state, const core::Job& job, Instant now);

// Numbers of JSON without the noise of binary fractions, because accounting copies their digits: to the microsecond,
// and to the billionth of an hour.
[[nodiscard]] double slot_seconds(Duration held);
[[nodiscard]] double slot_hours(Duration held);

}  // namespace tidepool::live::http
