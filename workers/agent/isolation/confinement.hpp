// Isolates the programs of jobs from each other and from the agent: determines what this host supports, prepares what a
// worker needs on the host before it starts, and removes it after the worker has ended. With root a worker has its
// job's own user, a view of its own, bounds, and denied addresses; otherwise it runs as the agent's user. Both run
// under a system call filter if the kernel supports it. The node reports which of these parts are missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/ip_network.hpp"
#include "base/result.hpp"
#include "workers/agent/isolation/cgroups.hpp"
#include "workers/agent/isolation/confine_plan.hpp"
#include "workers/agent/isolation/job_uids.hpp"
#include "workers/agent/system/child_process.hpp"
#include "workers/agent/system/syscall_filter.hpp"

namespace tidepool::agent {

struct IsolationOptions {
  enum class Mode { kAuto, kRequired, kNone };
  Mode mode = Mode::kAuto;
  UidRange uids;
  std::optional<std::int64_t> memory_per_slot;  // bytes; 0 = unlimited; none = an equal share of nine tenths
  std::int64_t processes_per_worker = 4'096;
  bool filter_calls = true;
  // kAuto: denied if this host can; kDeny: the agent does not start otherwise.
  enum class Metadata { kAuto, kDeny, kAllow };
  Metadata metadata = Metadata::kAuto;
  // Further networks that jobs must not reach; the agent does not start if it cannot deny them.
  std::vector<IpNetwork> denied;
};

// Where the confinement works, and which paths it must hide from jobs.
struct IsolationPlace {
  std::filesystem::path state_dir;
  std::filesystem::path confiner;  // tidepool-confine
  std::vector<std::filesystem::path> hidden;
  std::filesystem::path memory_folder;  // on a tmpfs, for /dev/shm of jobs; empty = on disk
  int slots = 1;                        // of the host, among which its memory is divided
  bool devices_known = true;            // it is known which device file belongs to which GPU
};

class Confinement {
 public:
  // Fails only if isolation is required, if a folder cannot be created, or if jobs would not see the agent's programs.
  // If there is no isolation otherwise, the reason is logged.
  [[nodiscard]] static Result<Confinement> open(const IsolationOptions& options, IsolationPlace place);

  // Whether workers have users and views of their own.
  [[nodiscard]] bool on() const { return why_none_.empty(); }
  // The parts in effect: a subset of api::kIsolationParts, in the same order.
  [[nodiscard]] const std::vector<std::string>& kept() const { return kept_; }
  // A slot's share of the memory in bytes, by the options, whether or not this host can enforce it; 0: no share.
  [[nodiscard]] std::int64_t memory_per_slot() const;
  // Why there is no isolation; empty if there is.
  [[nodiscard]] const std::string& why_none() const { return why_none_; }
  // The filter of every program of a job, whether or not on(); empty if there is none, for the reason why_no_filter().
  [[nodiscard]] const SyscallFilter& syscall_filter() const { return syscall_filter_; }
  [[nodiscard]] const std::string& why_no_filter() const { return why_no_filter_; }
  // Why isolated jobs can reach the cloud's metadata; empty if they cannot, or if that is allowed.
  [[nodiscard]] const std::string& why_metadata() const { return why_metadata_; }

  struct Worker {
    WorkerId id;
    JobId job;
    std::string cluster;
    int slots = 1;
    std::optional<std::int64_t> memory;  // limit in bytes that its job requests; none: the share of its slots
    std::vector<int> cpus;               // that it has exclusively
    std::vector<std::string> devices;    // files of its own GPUs
    std::filesystem::path job_file;
    std::filesystem::path states;           // the agent's own folder for the job's states
    std::optional<std::string> own_folder;  // the folder that the job names for its states, used instead of `states`
    int log = -1;
  };
  // Creates the worker's user, folders and groups, and converts `spec` to its confined form. Only when on().
  [[nodiscard]] Result<uid_t> confine(const Worker& worker, ChildSpec& spec) const;

  // Also applies the denied addresses to a worker of an earlier agent. The error says why that is impossible.
  [[nodiscard]] Status deny_addresses_to(WorkerId worker) const {
    return groups_ ? groups_->deny_addresses_to(worker) : ok_status();
  }

  // The job's /tmp, on the host. Only when on().
  [[nodiscard]] std::filesystem::path tmp_of(JobId job) const;

  // Nothing while a process of the worker may be alive; else how often the kernel killed one because of its memory.
  [[nodiscard]] std::optional<std::int64_t> left(WorkerId worker) const;
  // Call when no worker of the job is left here: its /tmp and its memory files are put aside, and the caller removes
  // them.
  [[nodiscard]] std::vector<std::filesystem::path> job_left(JobId job) const;

 private:
  Confinement(const IsolationOptions& options, IsolationPlace place);
  [[nodiscard]] Status start();
  [[nodiscard]] Status start_filter();
  [[nodiscard]] Status start_addresses();
  [[nodiscard]] Status deny_addresses();
  [[nodiscard]] Result<std::filesystem::path> own_folder(const std::filesystem::path& path, uid_t uid) const;
  [[nodiscard]] std::filesystem::path memory_of(JobId job) const;
  [[nodiscard]] std::optional<std::int64_t> memory_bound(const Worker& worker) const;

  IsolationOptions options_;
  IsolationPlace place_;
  std::string key_;  // distinguishes the agents of one machine
  std::optional<Cgroups> groups_;
  std::vector<std::string> kept_;
  std::string why_none_;
  SyscallFilter syscall_filter_;
  std::string why_no_filter_;
  std::string why_metadata_;
};

}  // namespace tidepool::agent
