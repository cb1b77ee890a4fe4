// One control group per worker: it bounds the worker's memory, processes and CPUs and denies it addresses, as far as
// this host supports each. Version 2 has one tree, version 1 one per controller; a host may have both. A group is
// created with its bounds before the worker enters it, and can be removed only when no process is left in it: its
// removal proves the worker's end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/agent/isolation/address_filter.hpp"

namespace tidepool::agent {

struct GroupBounds {
  std::optional<std::int64_t> memory_bytes;
  std::int64_t processes = 4'096;
  std::vector<int> cpus;  // empty = all
};

class Cgroups {
 public:
  // Searches `root` (/sys/fs/cgroup) for controllers in which groups can be created; `name` distinguishes agents.
  Cgroups(const std::filesystem::path& root, const std::string& name);
  Cgroups(Cgroups&&) = default;
  Cgroups& operator=(Cgroups&&) = delete;
  // Removes this agent's own groups, unless a worker still runs in them.
  ~Cgroups();

  [[nodiscard]] bool bounds_memory() const { return !tree_of("memory").empty(); }
  [[nodiscard]] bool bounds_processes() const { return !tree_of("pids").empty(); }
  [[nodiscard]] bool bounds_cpus() const { return !tree_of("cpuset").empty() && !tree_of("cpu").empty(); }

  // Applies the filter to groups that are created later. Searches `root`, and root/unified on hosts that have version 2
  // in addition to version 1. The error says why this host's groups do not support it.
  [[nodiscard]] Status deny_addresses(const std::filesystem::path& root, const std::string& name, AddressFilter filter);

  // Also applies the filter to the group of a living worker, replacing an earlier filter; if the worker has no group of
  // version 2, it gets one. The error says why this failed.
  [[nodiscard]] Status deny_addresses_to(WorkerId worker) const;

  // Creates the groups; returns the cgroup.procs files that the worker must enter.
  [[nodiscard]] Result<std::vector<std::string>> make(WorkerId worker, const GroupBounds& bounds) const;
  // How often the kernel killed a process of the worker because of its memory.
  [[nodiscard]] std::int64_t memory_kills(WorkerId worker) const;
  // Returns false while a process is left in one of the worker's groups; such processes are killed.
  [[nodiscard]] bool remove(WorkerId worker) const;

 private:
  struct Tree {
    std::string controller;
    std::filesystem::path folder;  // this agent's own group in the tree
    bool unified = false;
  };
  void look_at_unified(const std::filesystem::path& root, const std::string& name);
  void look_at_tree(const std::filesystem::path& root, const std::string& controller, const std::string& name);
  [[nodiscard]] std::filesystem::path tree_of(const std::string& controller) const;
  [[nodiscard]] Status bound(const Tree& tree, const std::filesystem::path& group, const GroupBounds& bounds) const;

  std::vector<Tree> trees_;
  std::optional<AddressFilter> addresses_;
};

}  // namespace tidepool::agent
