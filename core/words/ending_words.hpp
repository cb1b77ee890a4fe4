// Sentences about jobs that have ended, or whose training has. Part of sentence.cpp.
#pragma once

#include <string>

#include "core/state/reasons/worker.hpp"

namespace tidepool::core::reason {

[[nodiscard]] std::string text_of(const Finished& why);
[[nodiscard]] std::string text_of(const Finishing& why);
[[nodiscard]] std::string text_of(const CancelledByUser& why);
[[nodiscard]] std::string text_of(const WorkersFailed& why);
[[nodiscard]] std::string text_of(const FailedAtEnd& why);
[[nodiscard]] std::string text_of(const FinishTimeout& why);
[[nodiscard]] std::string text_of(const MaxDuration& why);

}  // namespace tidepool::core::reason
