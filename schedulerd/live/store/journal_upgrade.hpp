// Databases of an earlier schema version, made into one of this version when they are opened.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

// Kept its snapshots as one text each, and jobs that have ended among the others.
inline constexpr int kOldestVersion = 7;

// Requires: `version` is one from kOldestVersion to the one before this. From 7, in one transaction: the newest
// undamaged snapshot becomes rows, and jobs that have ended leave it for their table. Those that have ended in rows
// after it leave when these are replayed (Journal::complete_ended).
[[nodiscard]] Status upgrade_journal(Database& database, const std::string& path, std::int64_t version);

}  // namespace tidepool::live
