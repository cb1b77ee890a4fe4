// Prepares the tables of a journal when a database is opened: created in a new file, upgraded in an older one.
#pragma once

#include <string>

#include "base/result.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

// Sets the write mode of the database (WAL, synchronous=FULL), and creates or upgrades its tables. A file that is
// damaged, or that a newer version wrote, is an error that names it.
[[nodiscard]] Status prepare_journal(Database& database, const std::string& path);

}  // namespace tidepool::live
