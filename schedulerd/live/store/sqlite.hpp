// A thin wrapper of SQLite: one connection, prepared statements, errors as values. Values reach SQL only
// as bound parameters. A connection and its statements belong to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tidepool::live {

// One row of a running query; texts are copied, so they outlive it.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const {
    return is_null(column) ? std::nullopt : std::optional(integer(column));
  }

 private:
  sqlite3_stmt* statement_;
};

class Statement {
 public:
  Statement() = default;

  // Binds the arguments in order and runs to the end; rows are ignored.
  template <class... Args>
  Status run(const Args&... args) {
    return each([](const Row&) {}, args...);
  }

  // Binds the arguments in order and calls on_row(const Row&) for each row.
  template <class OnRow, class... Args>
  Status each(OnRow on_row, const Args&... args) {
    reset();
    int index = 0;
    (bind(++index, args), ...);
    while (true) {
      auto more = step();
      if (!more.ok() || !*more) {
        reset();
        return more.ok() ? ok_status() : Status(more.error());
      }
      on_row(Row(statement_.get()));
    }
  }

 private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };

  void bind(int index, std::int64_t value);
  void bind(int index, std::uint64_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, std::uint32_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, int value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, bool value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  template <class Number>
  void bind(int index, const std::optional<Number>& value) {
    value ? bind(index, *value) : bind_null(index);
  }
  void bind_null(int index);
  Result<bool> step();
  void reset();

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

class Database {
 public:
  struct Options {
    bool read_only = false;
    std::string vfs;  // empty = the system's own; tests inject faults here
  };

  // The file is created if it does not exist (not with read_only). Errors name the file.
  [[nodiscard]] static Result<Database> open(const std::string& path, const Options& options);

  // Runs statements without parameters: schema and pragmas.
  Status execute(const char* sql);
  [[nodiscard]] Result<Statement> prepare(const char* sql);
  // Each statement from its text; stops at the first that SQLite refuses.
  Status prepare_all(std::span<const std::pair<Statement*, const char*>> texts);
  // True between begin and commit.
  [[nodiscard]] bool in_transaction() const;
  // Moves what it can from the log into the database file without waiting for readers.
  Status checkpoint();
  // Pages in the log after the newest commit of this connection.
  [[nodiscard]] int log_pages() const { return *log_pages_; }
  // Leaves the log as it is when this connection closes; readers use it.
  void no_checkpoint_on_close();

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database);

  std::unique_ptr<int> log_pages_;  // SQLite keeps its address
  std::unique_ptr<sqlite3, Closer> database_;
};

}  // namespace tidepool::live
