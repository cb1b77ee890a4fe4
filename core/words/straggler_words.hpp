// Sentences about a slow worker. Part of sentence.cpp.
#pragma once

#include <string>

#include "core/state/reasons/worker.hpp"

namespace tidepool::core::reason {

[[nodiscard]] std::string text_of(const StragglerWatched& why);
[[nodiscard]] std::string text_of(const StragglerInData& why);
[[nodiscard]] std::string text_of(const StragglerEased& why);
[[nodiscard]] std::string text_of(const StragglerRebalanced& why);
[[nodiscard]] std::string text_of(const StragglerReplaced& why);
[[nodiscard]] std::string text_of(const StragglerShrunk& why);
[[nodiscard]] std::string text_of(const StragglerNoSpare& why);

}  // namespace tidepool::core::reason
