// Upgrades databases of an earlier schema version to this version when they are opened.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

// This version stored each snapshot as one text, and ended jobs among the others.
inline constexpr int kOldestVersion = 7;

// Requires: `version` is between kOldestVersion and the one before this. From 7, in one transaction: the newest
// undamaged snapshot becomes rows, and ended jobs move from it to their table. Jobs that end in later rows are moved
// when these are replayed (Journal::complete_ended).
[[nodiscard]] Status upgrade_journal(Database& database, const std::string& path, std::int64_t version);

}  // namespace tidepool::live
