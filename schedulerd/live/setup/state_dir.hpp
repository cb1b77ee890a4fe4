// The daemon's state directory: private to its owner, and owned by one daemon at a time.
//   journal.db (+ -wal, -shm, .mark)   the state
//   agent.sock, agent.token            the socket for agents, and the token that they must show
//   admin.token                        the first token, made at the first start
//   forecasts.json                     how good forecasts were; may be removed
//   cluster.id                         the daemon's identity: a name that no other state directory has
//   tls/ca.pem, tls/ca.key             with --tls: the authority that signs the daemon's and the nodes' certificates
//   agent/, agent.log                  the embedded agent's own
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace tidepool::live {

// On the file system of the state directory.
struct StateRoom {
  std::uint64_t journal_bytes = 0;  // of journal.db and its write-ahead log
  std::uint64_t free_bytes = 0;     // for this user
};

class StateDir {
 public:
  // Creates the directory (0700) and locks it. An error if it cannot be written, is open to others, or belongs to
  // another running daemon, which the error names. A new directory and its contents are removed with this object unless
  // keep() was called: a start that is refused leaves nothing behind.
  [[nodiscard]] static Result<StateDir> open(const std::string& path);
  // A new one under the system's temporary directory, for --dev.
  [[nodiscard]] static Result<StateDir> open_temporary();

  StateDir(StateDir&& other) noexcept;
  StateDir(const StateDir&) = delete;
  StateDir& operator=(const StateDir&) = delete;
  StateDir& operator=(StateDir&&) = delete;
  ~StateDir();

  void keep() { made_ = false; }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

  // None: the file system does not report it. From any thread.
  [[nodiscard]] std::optional<StateRoom> room() const;

  // Lets only this user read and write the database `name` and SQLite's files for it; creates it if it is missing.
  [[nodiscard]] Status keep_private(const std::string& name) const;
  // An error if the journal would be created although an identity exists, which is created after it at a first start.
  [[nodiscard]] Status has_journal() const;
  // The agents' shared secret; created at the first call.
  [[nodiscard]] Result<std::string> agent_token() const;

  // The daemon's identity, "c-" and 16 hexadecimal digits; created at the first call and then constant. Agents
  // recognize by it the daemon that their workers belong to.
  [[nodiscard]] Result<std::string> cluster_id() const;
  // An error if it would be created; for every start but the first.
  [[nodiscard]] Status has_cluster_id() const;
  // An error if tls/ is missing or empty; for daemons with joined nodes, which recognize the daemon by its contents.
  [[nodiscard]] Status has_authority() const;

 private:
  StateDir(std::string path, bool made) : path_(std::move(path)), made_(made) {}
  [[nodiscard]] static Result<StateDir> open_in(const std::string& path, bool made);
  [[nodiscard]] Status lock();

  std::string path_;
  bool made_ = false;  // by this object, and not to be kept yet
  int lock_ = -1;
};

}  // namespace tidepool::live
