// The folder in the node's memory where workers leave a parked state, so that their slots are free at once. A
// background thread moves states from there to disk; a state is complete on disk before it is removed from memory.
//
// A job's folder is not touched while a worker of that job lives on this node. Calls come from the agent's thread; a
// thread of its own does what takes time.
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
  std::filesystem::path root;       // for this agent alone; empty = this node has none
  std::filesystem::path earlier{};  // where workers of earlier versions leave states, including those of other agents
  std::filesystem::path jobs;       // on disk: states go to <jobs>/job-3/checkpoints by default
  std::function<void(std::string)> say{};  // receives a line for the log; called from the other thread
};

// /dev/shm/tidepool-<uid> if that is memory, else empty.
[[nodiscard]] std::filesystem::path find_memory_folder();

class MemoryTier {
 public:
  explicit MemoryTier(MemoryTierOptions options);
  ~MemoryTier();
  MemoryTier(const MemoryTier&) = delete;
  MemoryTier& operator=(const MemoryTier&) = delete;

  // Sets the cluster that the jobs belong to. States that an earlier agent of that cluster left are moved now.
  void join_cluster(const std::string& cluster);
  // The previous cluster no longer exists, and the states it left in memory are removed. Its files on disk are put
  // aside.
  void forget_cluster(const std::string& cluster);

  // Where the states of a job go if the daemon names no folder.
  [[nodiscard]] std::filesystem::path disk_folder(JobId job) const;

  // Call when a worker of the job starts or is adopted. Returns the job's folder in memory, or nothing if this node has
  // none. `disk` is where the job's states are moved to; empty = the same as before.
  [[nodiscard]] std::optional<std::filesystem::path> enter(JobId job, const std::filesystem::path& disk);
  // Sets `submitted_at` of the job that has this id now (StartWorker; 0: not reported), before its first worker enters.
  // A daemon with a restored journal may have given the id to another job before: states of that job are put aside.
  void know_job(JobId job, std::int64_t submitted_at);
  // Call when the last worker of the job on this node has ended.
  void leave(JobId job);

  // Call when the job has ended and no worker of it lives here: deletes what is in the job's own folder in memory and
  // in the default folder on disk. A folder that the job file names belongs to the user and stays.
  void drop(JobId job);
  // Jobs that have a default folder on disk.
  [[nodiscard]] std::vector<JobId> kept_jobs() const;

 private:
  void run();
  void drop_states(JobId job, const std::vector<std::filesystem::path>& memory);
  void move_states_of(const std::filesystem::path& folder, JobId job);
  [[nodiscard]] std::filesystem::path destination_of(const std::filesystem::path& folder, JobId job) const;
  void look_around();
  void take_over(JobId job, const std::filesystem::path& folder) const;
  // The folders with states of the job that this agent moves.
  [[nodiscard]] std::vector<std::filesystem::path> folders_of(JobId job) const;
  [[nodiscard]] bool is_own(const std::filesystem::path& folder) const;

  MemoryTierOptions options_;
  std::string cluster_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<JobId> busy_;  // jobs with living workers here
  std::set<JobId> to_move_;
  std::set<JobId> to_drop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tidepool::agent
