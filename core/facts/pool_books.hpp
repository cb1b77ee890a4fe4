// Keeps, for each type of slot, which slots no worker holds and in which class of the pool's account they are. A change
// costs only what it touches, and for each type one step for each way in which waiting jobs ask for slots.
//
// Rule: all of it follows from the state and is no part of it. A free slot is `fragmentation` while a waiting job may
// run on its type and its smallest size does not fit on the free slots, or the engine has found no room for it there. A
// job that would not fit if all slots of the type were free does not count.
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
  PoolBooks() = default;  // of a state that has nothing
  // Counts the state's account up to its newest fact where it does not say what the state has.
  explicit PoolBooks(ClusterState& state);

  // These may have changed at that moment. Until then the pool had what its account says.
  void settle(ClusterState& state, const IdSet<JobId>& jobs, const IdSet<NodeId>& nodes, Instant at);

 private:
  // What the books hold of a node.
  struct NodeEntry {
    std::string type;
    Money price;
    int size = 0;  // slots, where it takes workers; else 0, as are those that are open
    int open = 0;
    int closed = 0;
    bool operator==(const NodeEntry&) const = default;
  };
  // How a job asks for slots.
  struct Asking {
    std::vector<std::string> types;  // empty = any
    int slots_each = 1;
    bool mixed = false;
    auto operator<=>(const Asking&) const = default;
  };
  struct JobEntry {
    Asking asking;
    int workers = 0;        // of its smallest size
    bool is_found = false;  // that there is no room
    bool operator==(const JobEntry&) const = default;
  };
  struct Type {
    std::vector<std::int64_t> nodes_by_open;  // that take workers, by their free slots, and likewise by all of theirs
    std::vector<std::int64_t> nodes_by_size;
    UnheldSlots open;
    UnheldSlots closed;
  };
  struct Waiting {
    std::map<int, std::int64_t> jobs_by_workers;
    std::int64_t found = 0;  // of these jobs, those for which no room was found
  };

  [[nodiscard]] static std::optional<NodeEntry> entry_of(const ClusterState& state, NodeId id);
  [[nodiscard]] static std::optional<JobEntry> entry_of(const ClusterState& state, JobId id);
  void add(const NodeEntry& entry, int sign);
  void add(const JobEntry& entry, int sign);
  // Whether it is another than before.
  template <class Id, class Entry>
  bool replace(IdTable<Id, Entry>& entries, Id id, const std::optional<Entry>& entry);
  // How many workers fit on what is free, or on all slots, of the types that are asked for.
  [[nodiscard]] std::int64_t room(const Asking& asking, std::vector<std::int64_t> Type::* nodes) const;
  [[nodiscard]] bool lacks_room(const Asking& asking, const Waiting& waiting) const;
  // Brings the account to what the books have.
  void tell(ClusterState& state, Instant at) const;

  IdTable<NodeId, NodeEntry> nodes_;
  IdTable<JobId, JobEntry> jobs_;  // that wait
  std::map<std::string, Type> types_;
  std::map<Asking, Waiting> waiting_;
};

}  // namespace tidepool::core
