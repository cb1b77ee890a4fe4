// Sentences about nodes that are created, emptied and released. Part of sentence.cpp.
#pragma once

#include <string>

#include "core/state/reasons/provisioning.hpp"

namespace tidepool::core::reason {

[[nodiscard]] std::string text_of(const NodeForGang& why);
[[nodiscard]] std::string text_of(const NodeForGrowth& why);
[[nodiscard]] std::string text_of(const NodeForMinimum& why);
[[nodiscard]] std::string text_of(const NodeForPolicy& why);
[[nodiscard]] std::string text_of(const NodeBeyondPolicy& why);
[[nodiscard]] std::string text_of(const NodeIdle& why);
[[nodiscard]] std::string text_of(const NodeNotWorth& why);
[[nodiscard]] std::string text_of(const NodeEmptied& why);
[[nodiscard]] std::string text_of(const NodeNeverJoined& why);
[[nodiscard]] std::string text_of(const NodeAway& why);
[[nodiscard]] std::string text_of(const NodeLifetimeEnds& why);
[[nodiscard]] std::string text_of(const NodeSurplus& why);

}  // namespace tidepool::core::reason
