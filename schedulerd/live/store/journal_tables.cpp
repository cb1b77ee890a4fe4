#include "schedulerd/live/store/journal_tables.hpp"

#include <cstdint>

#include "schedulerd/live/store/journal_schema.hpp"
#include "schedulerd/live/store/journal_upgrade.hpp"

namespace tidepool::live {
namespace {

// The file must be ours, and not newer than this program.
Status prepare_tables(Database& database, const std::string& path) {
  std::int64_t version = 0;
  auto ask = database.prepare("PRAGMA user_version");
  if (!ask.ok()) return ask.error();
  TP_TRY(ask->each([&](const Row& row) { version = row.integer(0); }));
  if (version == kSchemaVersion) return ok_status();
  if (version >= kOldestVersion && version < kSchemaVersion) return upgrade_journal(database, path, version);
  if (version != 0) {
    return conflict(path + " has schema version " + std::to_string(version) + ", this schedulerd reads version " +
                    std::to_string(kSchemaVersion) + "; start the version that wrote it, or a fresh --state-dir");
  }
  TP_TRY(database.execute("BEGIN IMMEDIATE"));
  TP_TRY(database.execute(kSchema));
  TP_TRY(database.execute(kSchemaOf8));
  TP_TRY(database.execute(kSchemaOf9));
  TP_TRY(database.execute(kMetricsTable));
  TP_TRY(database.execute(kSchemaOf12));
  TP_TRY(database.execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str()));
  return database.execute("COMMIT");
}

Status check_whole(Database& database, const std::string& path) {
  std::string finding;
  auto check = database.prepare("PRAGMA quick_check(1)");
  if (!check.ok()) return check.error();
  TP_TRY(check->each([&](const Row& row) { finding = row.text(0); }));
  if (finding != "ok") return io_error(path + " is damaged (" + finding + "); restore it from a backup");
  return ok_status();
}

}  // namespace

Status prepare_journal(Database& database, const std::string& path) {
  TP_TRY(database.execute("PRAGMA journal_mode=WAL"));
  TP_TRY(database.execute("PRAGMA synchronous=FULL"));
  TP_TRY(prepare_tables(database, path));
  TP_TRY(check_whole(database, path));
  TP_TRY(database.execute(kIndexesOfLists));
  // Each INSERT OR REPLACE copies the pages that it changes into a statement journal, by default a file. Not before:
  // what sorts a whole table uses files.
  return database.execute("PRAGMA temp_store=MEMORY");
}

}  // namespace tidepool::live
