// For each slot type, records which slots no worker holds and which class of the pool's account they are in. The cost
// of a change depends on what it touches, plus, for each type, one step for each distinct request of waiting jobs.
//
// Rule: all of it is derived from the state and is no part of it. A free slot is `fragmentation` while a waiting job
// may run on its type and either the job's smallest size does not fit on the free slots, or the engine has found no
// room for it there. A job that would not fit if all slots of the type were free does not count.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class PoolBooks {
 public:
  PoolBooks() = default;  // for an empty state
  // Counts the state's account up to its newest fact wherever the account differs from the state.
  explicit PoolBooks(ClusterState& state);

  // `jobs` and `nodes` may have changed at `at`. Until then the pool was as its account states.
  void settle(ClusterState& state, const IdSet<JobId>& jobs, const IdSet<NodeId>& nodes, Instant at);

 private:
  // A node's entry in the books.
  struct NodeEntry {
    std::string type;
    Money price;
    int size = 0;  // slots, if it accepts workers; else 0, like the count of its open slots
    int open = 0;
    int closed = 0;
    bool operator==(const NodeEntry&) const = default;
  };
  // The slots that a job requests.
  struct Asking {
    std::vector<std::string> types;  // empty = any
    int slots_each = 1;
    bool mixed = false;
    auto operator<=>(const Asking&) const = default;
  };
  struct JobEntry {
    Asking asking;
    int workers = 0;        // of its smallest size
    bool is_found = false;  // no room was found
    bool operator==(const JobEntry&) const = default;
  };
  struct Type {
    // Nodes that accept workers, by number of free slots; and by number of all slots.
    std::vector<std::int64_t> nodes_by_open;
    std::vector<std::int64_t> nodes_by_size;
    UnheldSlots open;
    UnheldSlots closed;
  };
  struct Waiting {
    std::map<int, std::int64_t> jobs_by_workers;
    std::int64_t found = 0;  // of these jobs, those for which the engine found no room
  };

  [[nodiscard]] static std::optional<NodeEntry> entry_of(const ClusterState& state, NodeId id);
  [[nodiscard]] static std::optional<JobEntry> entry_of(const ClusterState& state, JobId id);
  void add(const NodeEntry& entry, int sign);
  void add(const JobEntry& entry, int sign);
  // Returns whether the entry has changed.
  template <class Id, class Entry>
  bool replace(IdTable<Id, Entry>& entries, Id id, const std::optional<Entry>& entry);
  // How many workers fit on the free slots, or on all slots, of the requested types.
  [[nodiscard]] std::int64_t room(const Asking& asking, std::vector<std::int64_t> Type::* nodes) const;
  [[nodiscard]] bool lacks_room(const Asking& asking, const Waiting& waiting) const;
  // Updates the account to the books.
  void tell(ClusterState& state, Instant at) const;

  IdTable<NodeId, NodeEntry> nodes_;
  IdTable<JobId, JobEntry> jobs_;  // waiting jobs
  std::map<std::string, Type> types_;
  std::map<Asking, Waiting> waiting_;
};

}  // namespace tidepool::core
