// Keeps the programs of jobs from each other and from the agent: finds out what this host can give, prepares what a
// worker needs on the host before it starts, and takes it away when it has ended. With root a worker has its job's own
// user, a view of its own, bounds, and addresses that it may not reach; else it runs as the agent's user. Both are
// under a system call filter where the kernel takes one. What of this there is not, the node tells.
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
  std::optional<std::int64_t> memory_per_slot;  // bytes; 0 = unbounded; none = an equal share of nine tenths
  std::int64_t processes_per_worker = 4'096;
  bool filter_calls = true;
  enum class Metadata { kAuto, kDeny, kAllow };  // kAuto: denied where this host can; kDeny: else it does not start
  Metadata metadata = Metadata::kAuto;
  std::vector<IpNetwork> denied;  // networks that jobs may not reach, besides; never without them
};

// Where it works, and what it is not to show to jobs.
struct IsolationPlace {
  std::filesystem::path state_dir;
  std::filesystem::path confiner;  // tidepool-confine
  std::vector<std::filesystem::path> hidden;
  std::filesystem::path memory_folder;  // on a tmpfs, for /dev/shm of jobs; empty = on disk
  int slots = 1;                        // of the host, among which its memory is divided
  bool devices_known = true;            // which device file is which GPU's
};

class Confinement {
 public:
  // Fails only where isolation is required, or a folder cannot be made, or jobs would not see the agent's programs;
  // says in the log why there is none.
  [[nodiscard]] static Result<Confinement> open(const IsolationOptions& options, IsolationPlace place);

  // Whether workers have users and views of their own.
  [[nodiscard]] bool on() const { return why_none_.empty(); }
  // Of api::kIsolationParts, in their order.
  [[nodiscard]] const std::vector<std::string>& kept() const { return kept_; }
  // Bytes that a slot's share of the memory is, by the options, whether or not this host can bound it; 0: no share.
  [[nodiscard]] std::int64_t memory_per_slot() const;
  // Why there is none; empty where there is.
  [[nodiscard]] const std::string& why_none() const { return why_none_; }
  // Of every program of a job, whether or not on(); empty where there is none, for the reason beside it.
  [[nodiscard]] const SyscallFilter& syscall_filter() const { return syscall_filter_; }
  [[nodiscard]] const std::string& why_no_filter() const { return why_no_filter_; }
  // Why isolated jobs can reach the cloud's metadata; empty where they cannot, and where that is allowed.
  [[nodiscard]] const std::string& why_metadata() const { return why_metadata_; }

  struct Worker {
    WorkerId id;
    JobId job;
    std::string cluster;
    int slots = 1;
    std::optional<std::int64_t> memory;  // bytes that bound it, as its job asks; none: the share of its slots
    std::vector<int> cpus;               // that it has to itself
    std::vector<std::string> devices;    // files of its own GPUs
    std::filesystem::path job_file;
    std::filesystem::path states;           // the agent's own folder for the job's states
    std::optional<std::string> own_folder;  // that the job names for its states, in the place of that one
    int log = -1;
  };
  // Makes its user, folders and groups, and turns what is to be started into its confined form. Only when on().
  [[nodiscard]] Result<uid_t> confine(const Worker& worker, ChildSpec& spec) const;

  // What is denied here is denied to a worker of an agent before this one, too. The error says why it cannot be.
  [[nodiscard]] Status deny_addresses_to(WorkerId worker) const {
    return groups_ ? groups_->deny_addresses_to(worker) : ok_status();
  }

  // The job's /tmp, on the host. Only when on().
  [[nodiscard]] std::filesystem::path tmp_of(JobId job) const;

  // Nothing while a process of the worker may live; else how often the kernel ended one for its memory.
  [[nodiscard]] std::optional<std::int64_t> left(WorkerId worker) const;
  // No worker of the job is left here: its /tmp and its memory files are put aside, for the caller to remove.
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
  std::string key_;  // tells agents of one machine apart
  std::optional<Cgroups> groups_;
  std::vector<std::string> kept_;
  std::string why_none_;
  SyscallFilter syscall_filter_;
  std::string why_no_filter_;
  std::string why_metadata_;
};

}  // namespace tidepool::agent
