#include "schedulerd/live/store/sqlite.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tidepool::live {
namespace {

// "the disk of /var/lib/tidepool"
std::string disk_of(sqlite3* database) {
  const char* file = sqlite3_db_filename(database, "main");
  if (file == nullptr || *file == '\0') return "the disk";
  return "the disk of " + std::filesystem::path(file).parent_path().string();
}

// SQLite calls only writes to its own files a full disk, and not those to the memory that its connections share.
std::string words_of_io_error(sqlite3* database, int code) {
  const int system = sqlite3_system_errno(database);
  const std::string named = system == 0 ? std::string() : std::string(", ") + std::strerror(system);
  if (system == ENOSPC || system == EDQUOT || system == EFBIG) {
    return disk_of(database) + " has no room for it" + named + "; free some space there and start again";
  }
  const std::string why = std::string(sqlite3_errmsg(database)) + " (code " + std::to_string(code) + named + ")";
  return (code & 0xff) == SQLITE_IOERR ? why + "; look at " + disk_of(database) + " and its free space" : why;
}

Error error_of(sqlite3* database, const std::string& doing) {
  const int code = sqlite3_extended_errcode(database);
  std::string why = sqlite3_errmsg(database);
  switch (code & 0xff) {
    case SQLITE_FULL: why = disk_of(database) + " is full; free some space there and start again"; break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: why += "; the file is damaged, restore it from a backup"; break;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR: why = words_of_io_error(database, code); break;
    default: break;
  }
  return io_error(doing + ": " + why);
}

}  // namespace

std::int64_t Row::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Row::number(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string Row::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(bytes), size);
}

bool Row::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::bind(int index, double value) {
  sqlite3_bind_double(statement_.get(), index, value);
}

void Statement::bind(int index, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), index, value.data() == nullptr ? "" : value.data(), value.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind_null(int index) {
  sqlite3_bind_null(statement_.get(), index);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error_of(sqlite3_db_handle(statement_.get()), "the state's database refused an operation");
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

Database::Database(sqlite3* database) : log_pages_(std::make_unique<int>(0)), database_(database) {
  if (database == nullptr) return;  // out of memory; open() tells
  // Takes the place of SQLite's own checkpoints, which would come in the middle of a commit.
  sqlite3_wal_hook(
      database,
      [](void* into, sqlite3*, const char*, int pages) {
        *static_cast<int*>(into) = pages;
        return SQLITE_OK;
      },
      log_pages_.get());
}

void Database::Closer::operator()(sqlite3* database) const {
  // close_v2 waits for the statements, which their owners finalize on their own.
  sqlite3_close_v2(database);
}

Result<Database> Database::open(const std::string& path, const Options& options) {
  sqlite3* raw = nullptr;
  const int flags =
      (options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, options.vfs.empty() ? nullptr : options.vfs.c_str());
  Database database(raw);
  if (code != SQLITE_OK) return error_of(raw, "cannot open " + path);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, 2'000);
  // A damaged schema must not be able to run functions of its choice.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

Status Database::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return ok_status();
  return error_of(database_.get(), "the state's database refused an operation");
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) != SQLITE_OK) {
    return error_of(database_.get(), "the state's database has an unexpected layout");
  }
  Statement statement;
  statement.statement_.reset(raw);
  return statement;
}

Status Database::prepare_all(std::span<const std::pair<Statement*, const char*>> texts) {
  for (const auto& [statement, text] : texts) {
    auto prepared = prepare(text);
    if (!prepared.ok()) return prepared.error();
    *statement = *std::move(prepared);
  }
  return ok_status();
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(database_.get()) == 0;
}

Status Database::checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) return ok_status();
  return error_of(database_.get(), "cannot fold the log into the state's database");
}

void Database::no_checkpoint_on_close() {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

}  // namespace tidepool::live
