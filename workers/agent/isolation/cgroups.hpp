// One control group a worker: the bounds of its memory, its processes and its CPUs, and the addresses that it may not
// reach, with whatever this host has. In version 2 it is one tree, in version 1 one for each controller; a host may
// have both. A group is made with its bounds before the worker enters it, and can be removed only when no process is
// left in it: that is the proof of its end.
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
  // Looks below `root` (/sys/fs/cgroup) for controllers in which groups can be made; `name` tells agents apart.
  Cgroups(const std::filesystem::path& root, const std::string& name);
  Cgroups(Cgroups&&) = default;
  Cgroups& operator=(Cgroups&&) = delete;
  // Takes this agent's own groups away unless a worker goes on in them.
  ~Cgroups();

  [[nodiscard]] bool bounds_memory() const { return !tree_of("memory").empty(); }
  [[nodiscard]] bool bounds_processes() const { return !tree_of("pids").empty(); }
  [[nodiscard]] bool bounds_cpus() const { return !tree_of("cpuset").empty() && !tree_of("cpu").empty(); }

  // Groups that are made from now on are under the filter. Looks below `root`, and in root/unified, where hosts have
  // version 2 beside version 1. The error says why this host's groups take none.
  [[nodiscard]] Status deny_addresses(const std::filesystem::path& root, const std::string& name, AddressFilter filter);

  // The group of a worker that lives comes under the filter, too, in the place of one that it has had; where it has
  // none of version 2, it gets one. The error says why it does not.
  [[nodiscard]] Status deny_addresses_to(WorkerId worker) const;

  // The cgroup.procs files that the worker must enter.
  [[nodiscard]] Result<std::vector<std::string>> make(WorkerId worker, const GroupBounds& bounds) const;
  // How often the kernel has ended a process of it for its memory.
  [[nodiscard]] std::int64_t memory_kills(WorkerId worker) const;
  // False while a process is left in one of its groups; what is left is ended.
  [[nodiscard]] bool remove(WorkerId worker) const;

 private:
  struct Tree {
    std::string controller;
    std::filesystem::path folder;  // this agent's own group in it
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
