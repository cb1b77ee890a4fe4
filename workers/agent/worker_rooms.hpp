// What a worker has of its node while it lives: CPUs to itself, the user of its job, and its confinement. A room is
// given back when every process of the worker is proven dead, however it has tried to stay; until then its slots are
// not free.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/worker_protocol.hpp"
#include "workers/agent/isolation/confinement.hpp"
#include "workers/agent/node_slots.hpp"
#include "workers/agent/system/child_process.hpp"
#include "workers/agent/system/cpu_pool.hpp"
#include "workers/agent/worker_launch.hpp"
#include "workers/agent/worker_ledger.hpp"

namespace tidepool::agent {

class WorkerRooms {
 public:
  // Of how many processes a GPU holds memory; none: it is not known. Called in a thread of its own.
  using GpuProcesses = std::function<std::optional<int>(const std::string& uuid)>;
  // `work`: the folder in which each worker's own lies.
  struct Parts {
    Confinement confinement;
    std::filesystem::path work;
    GpuProcesses gpu_processes;
    Duration held_after = Duration::seconds(5);
    std::vector<int> cpus = usable_cpus();  // that workers may have to themselves
  };
  WorkerRooms(boost::asio::io_context& io, Parts parts);

  [[nodiscard]] const Confinement& confinement() const { return confinement_; }
  // What the confinement keeps of all workers that live, those of earlier agents among them.
  [[nodiscard]] std::vector<std::string> kept() const;
  // Where the program finds what is its own, as it sees it.
  void name_places(LaunchPlace& place) const;
  // Where a program of that worker tells its length (program_files/length_files.hpp), on the host.
  [[nodiscard]] std::filesystem::path length_file_of(WorkerId worker, JobId job) const;

  struct Need {
    const api::StartWorker& order;
    const NodeSlots& node;
    std::string cluster;
    std::filesystem::path states;
    int log = -1;
  };
  // Gives it CPUs and confinement. Returns the job's user; 0: the agent's.
  [[nodiscard]] Result<uid_t> open(const Need& need, ChildSpec& spec);
  void adopt(const ProcessRecord& record);
  // It was adopted and lives: it comes under the check of addresses that workers are started with here.
  void deny_addresses_to(WorkerId worker);
  // Those that it has.
  [[nodiscard]] std::vector<std::string> gpus_of_worker(WorkerId worker) const;
  // The user that it runs as.
  [[nodiscard]] uid_t user_of(WorkerId worker) const;

  struct Told {
    std::function<void(const std::string& why)> done;  // nothing is left; why it ended, if for its memory
    // Something is after so long, and what; at most once, before `done`.
    std::function<void(const std::string& what, Duration lasted)> held;
  };
  // Its first process has ended. Ends what is left of it, in its GPUs' memory, too.
  void close(WorkerId worker, Told told);
  void release(WorkerId worker);
  // No worker of the job is left here: its /tmp and its memory files go, in a thread of its own.
  void job_left(JobId job);

 private:
  struct Closing {
    explicit Closing(boost::asio::io_context& io) : timer(io), since(std::chrono::steady_clock::now()) {}
    boost::asio::steady_timer timer;
    std::chrono::steady_clock::time_point since;
    std::optional<std::string> why;  // all its processes are dead
    Told told;
  };
  void look(WorkerId worker, const std::shared_ptr<Closing>& closing);
  [[nodiscard]] std::filesystem::path job_file_of(WorkerId worker) const { return work_ / worker.text() / "job.json"; }
  void look_again(WorkerId worker, const std::shared_ptr<Closing>& closing, const std::string& what);
  void look_at_gpus(WorkerId worker, const std::shared_ptr<Closing>& closing);
  [[nodiscard]] std::optional<std::string> proof_of_end(WorkerId worker);

  boost::asio::io_context& io_;
  Confinement confinement_;
  std::filesystem::path work_;
  CpuPool cpus_;
  GpuProcesses gpu_processes_;
  Duration held_after_;
  std::map<WorkerId, uid_t> users_;  // of the confined
  std::set<WorkerId> unchecked_;     // adopted ones that reach addresses which are denied here
  std::map<WorkerId, std::vector<std::string>> gpus_;
  boost::asio::thread_pool sweeper_{1};
};

}  // namespace tidepool::agent
