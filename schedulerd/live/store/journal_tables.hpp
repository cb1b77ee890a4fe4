// The tables of a journal as a database is opened: made in a fresh file, brought up to date in an older one.
#pragma once

#include <string>

#include "base/result.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

// Sets how the database writes (WAL, synchronous=FULL), and makes or upgrades its tables. A file that is damaged, or
// that a newer version wrote, is an error that names it.
[[nodiscard]] Status prepare_journal(Database& database, const std::string& path);

}  // namespace tidepool::live
