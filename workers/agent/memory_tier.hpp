// The folder in the node's memory where workers leave a parked state, so that their slots are free at once;
// from there it is moved to disk in the background, complete there before it is gone here.
//
// A job's folder is left alone while a worker of that job lives on this node. Calls come from the agent's
// thread; a thread of its own does what takes time.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"

namespace tidepool::agent {

struct MemoryTierOptions {
  std::filesystem::path root;              // of this agent alone; empty = this node has none
  std::filesystem::path earlier{};         // where workers of an earlier version leave states, of other agents, too
  std::filesystem::path jobs;              // on disk: <jobs>/job-3/checkpoints is where states go by default
  std::function<void(std::string)> say{};  // a line for the log; from the other thread
};

// /dev/shm/tidepool-<uid> if that is memory, else empty.
[[nodiscard]] std::filesystem::path find_memory_folder();

class MemoryTier {
 public:
  explicit MemoryTier(MemoryTierOptions options);
  ~MemoryTier();
  MemoryTier(const MemoryTier&) = delete;
  MemoryTier& operator=(const MemoryTier&) = delete;

  // Whose jobs these are. States that an earlier agent of that cluster has left are moved now.
  void join_cluster(const std::string& cluster);
  // The cluster before is gone for good, and what it has left here with it. Its files on disk are put aside.
  void forget_cluster(const std::string& cluster);

  // Where the states of a job go when the daemon names no folder.
  [[nodiscard]] std::filesystem::path disk_folder(JobId job) const;

  // A worker of the job starts or is adopted: its folder in memory, or nothing if this node has none. `disk` is where
  // its states are moved to; empty = where they went before.
  [[nodiscard]] std::optional<std::filesystem::path> enter(JobId job, const std::filesystem::path& disk);
  // `submitted_at` of the job that has this id now (StartWorker; 0: not told), before its first worker enters. States
  // of another job, to which a daemon whose journal was restored had given the id before, are put aside.
  void know_job(JobId job, std::int64_t submitted_at);
  // The last worker of the job on this node has ended.
  void leave(JobId job);

  // The job has ended and no worker of it lives here: deletes what lies in its own folder in memory and in the default
  // folder on disk. A folder that the job file has named is its owner's and stays.
  void drop(JobId job);
  // Jobs with such a folder on disk.
  [[nodiscard]] std::vector<JobId> kept_jobs() const;

 private:
  void run();
  void drop_states(JobId job, const std::vector<std::filesystem::path>& memory);
  void move_states_of(const std::filesystem::path& folder, JobId job);
  [[nodiscard]] std::filesystem::path destination_of(const std::filesystem::path& folder, JobId job) const;
  void look_around();
  void take_over(JobId job, const std::filesystem::path& folder) const;
  // Where states of the job lie that this agent moves.
  [[nodiscard]] std::vector<std::filesystem::path> folders_of(JobId job) const;
  [[nodiscard]] bool is_own(const std::filesystem::path& folder) const;

  MemoryTierOptions options_;
  std::string cluster_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<JobId> busy_;  // with living workers here
  std::set<JobId> to_move_;
  std::set<JobId> to_drop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tidepool::agent
