// Sentences about single workers: lost, ended, preempted or moved. Part of sentence.cpp.
#pragma once

#include <string>

#include "core/state/reasons/worker.hpp"

namespace tidepool::core::reason {

[[nodiscard]] std::string text_of(const SharesRegained& why);
[[nodiscard]] std::string text_of(const WorkerLost& why);
[[nodiscard]] std::string text_of(const ProgramFailed& why);
[[nodiscard]] std::string text_of(const BelowMinimum& why);
[[nodiscard]] std::string text_of(const StartTimeout& why);
[[nodiscard]] std::string text_of(const LeftBehind& why);
[[nodiscard]] std::string text_of(const WorkerStuck& why);
[[nodiscard]] std::string text_of(const SwitchTimeout& why);
[[nodiscard]] std::string text_of(const ParkTimeout& why);
[[nodiscard]] std::string text_of(const EndTimeout& why);
[[nodiscard]] std::string text_of(const Preempted& why);
[[nodiscard]] std::string text_of(const OverTenantLimit& why);
[[nodiscard]] std::string text_of(const MovedForType& why);
[[nodiscard]] std::string text_of(const MovedTogether& why);
[[nodiscard]] std::string text_of(const MovedForRoom& why);

}  // namespace tidepool::core::reason
