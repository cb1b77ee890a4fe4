// Sentences about jobs that request particular nodes, or with rules for their workers together. Part of sentence.cpp.
#pragma once

#include <string>

#include "core/state/reasons/holding.hpp"
#include "core/state/reasons/waiting.hpp"

namespace tidepool::core::reason {

[[nodiscard]] std::string text_of(const NoNodeMatches& why);
[[nodiscard]] std::string text_of(const WaitingForNodes& why);
[[nodiscard]] std::string text_of(const DomainsTooSmall& why);
[[nodiscard]] std::string text_of(const WaitingForDomains& why);
[[nodiscard]] std::string text_of(const NoRoomByRules& why);
// "in rack r1", "on node gpu-3", as named by domain_text() (state/node_labels.hpp).
[[nodiscard]] std::string in_domain(const std::string& domain);

}  // namespace tidepool::core::reason
