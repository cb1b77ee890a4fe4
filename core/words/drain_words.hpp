// Sentences about jobs that leave a node that is being drained. Part of sentence.cpp.
#pragma once

#include <string>

#include "core/state/reasons/draining.hpp"

namespace tidepool::core::reason {

[[nodiscard]] std::string text_of(const DrainMove& why);
[[nodiscard]] std::string text_of(const DrainShrink& why);
[[nodiscard]] std::string text_of(const DrainGrow& why);
[[nodiscard]] std::string text_of(const DrainSuspend& why);
[[nodiscard]] std::string text_of(const DrainHold& why);
[[nodiscard]] std::string text_of(const DrainStop& why);
[[nodiscard]] std::string text_of(const NodesDrain& why);
[[nodiscard]] std::string text_of(const NodesUnsteady& why);

}  // namespace tidepool::core::reason
