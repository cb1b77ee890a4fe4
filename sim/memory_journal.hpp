// A journal in memory with the contract of the real one: records are appended in batches and are durable only after
// commit(); a crash loses the others. A snapshot replaces all records before it at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidepool::sim {

class MemoryJournal {
 public:
  void append(std::string record) { pending_.push_back(std::move(record)); }
  void commit() {
    for (auto& record : pending_) durable_.push_back(std::move(record));
    pending_.clear();
  }
  // A crash: records that were appended and not committed are lost.
  void lose_uncommitted() { pending_.clear(); }

  // Requires: nothing is pending.
  void compact(std::string snapshot) {
    snapshot_ = std::move(snapshot);
    durable_.clear();
  }

  [[nodiscard]] const std::optional<std::string>& snapshot() const { return snapshot_; }
  // Since the snapshot, oldest first.
  [[nodiscard]] const std::vector<std::string>& records() const { return durable_; }
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

 private:
  std::optional<std::string> snapshot_;
  std::vector<std::string> durable_;
  std::vector<std::string> pending_;
};

}  // namespace tidepool::sim
