// What a worker has of its node while it lives: exclusive CPUs, the user of its job, and its confinement. A room is
// released when every process of the worker is proven dead, whatever it did to survive; its slots are not free before
// that.
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
  // The number of processes that hold memory of a GPU; none: not known. Called in a thread of its own.
  using GpuProcesses = std::function<std::optional<int>(const std::string& uuid)>;
  // `work`: the folder that contains each worker's own folder.
  struct Parts {
    Confinement confinement;
    std::filesystem::path work;
    GpuProcesses gpu_processes;
    Duration held_after = Duration::seconds(5);
    std::vector<int> cpus = usable_cpus();  // that workers may get exclusively
  };
  WorkerRooms(boost::asio::io_context& io, Parts parts);

  [[nodiscard]] const Confinement& confinement() const { return confinement_; }
  // The isolation parts that apply to all living workers, including those of earlier agents.
  [[nodiscard]] std::vector<std::string> kept() const;
  // Sets the paths of the worker's files as its program sees them.
  void name_places(LaunchPlace& place) const;
  // The file, on the host, in which a program of that worker reports its length (program_files/length_files.hpp).
  [[nodiscard]] std::filesystem::path length_file_of(WorkerId worker, JobId job) const;

  struct Need {
    const api::StartWorker& order;
    const NodeSlots& node;
    std::string cluster;
    std::filesystem::path states;
    int log = -1;
  };
  // Assigns CPUs and confinement to the worker. Returns the job's user; 0: the agent's user.
  [[nodiscard]] Result<uid_t> open(const Need& need, ChildSpec& spec);
  void adopt(const ProcessRecord& record);
  // The worker was adopted and lives: applies the address check that newly started workers get here.
  void deny_addresses_to(WorkerId worker);
  // The GPUs that the worker has.
  [[nodiscard]] std::vector<std::string> gpus_of_worker(WorkerId worker) const;
  // The user that the worker runs as.
  [[nodiscard]] uid_t user_of(WorkerId worker) const;

  struct Told {
    // Nothing of it is left; `why` it ended, if because of its memory.
    std::function<void(const std::string& why)> done;
    // Something is left after `lasted`, and `what`; called at most once, before `done`.
    std::function<void(const std::string& what, Duration lasted)> held;
  };
  // Call when the worker's first process has ended. Ends everything that is left of it, also in the memory of its GPUs.
  void close(WorkerId worker, Told told);
  void release(WorkerId worker);
  // Call when no worker of the job is left here: removes its /tmp and its memory files, in a thread of its own.
  void job_left(JobId job);

 private:
  struct Closing {
    explicit Closing(boost::asio::io_context& io) : timer(io), since(std::chrono::steady_clock::now()) {}
    boost::asio::steady_timer timer;
    std::chrono::steady_clock::time_point since;
    std::optional<std::string> why;  // set once all its processes are dead
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
  std::map<WorkerId, uid_t> users_;  // users of confined workers
  std::set<WorkerId> unchecked_;     // adopted workers that can reach addresses which are denied here
  std::map<WorkerId, std::vector<std::string>> gpus_;
  boost::asio::thread_pool sweeper_{1};
};

}  // namespace tidepool::agent
