#include "workers/agent/worker_rooms.hpp"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <utility>

#include "workers/agent/program_files/length_files.hpp"
#include "workers/agent/system/proc_info.hpp"

namespace tidepool::agent {
namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(100);

}  // namespace

WorkerRooms::WorkerRooms(boost::asio::io_context& io, Parts parts)
    : io_(io),
      confinement_(std::move(parts.confinement)),
      work_(std::move(parts.work)),
      cpus_(std::move(parts.cpus)),
      gpu_processes_(std::move(parts.gpu_processes)),
      held_after_(parts.held_after) {}

void WorkerRooms::name_places(LaunchPlace& place) const {
  place.confined = confinement_.on();
  if (!place.confined) return;
  if (!place.agent_socket.empty()) place.agent_socket = view::kSocket;
  place.job_file = view::kJobFile;
  place.checkpoint_folder = view::kStates;
  if (!place.length_file.empty()) place.length_file = view::kTmp / place.length_file.filename();
  // Otherwise the agent would have to move files of the job as root.
  place.park_folder.reset();
}

std::filesystem::path WorkerRooms::length_file_of(WorkerId worker, JobId job) const {
  const std::filesystem::path folder = confinement_.on() ? confinement_.tmp_of(job) : work_ / worker.text();
  return folder / LengthFiles::name_of(worker);
}

Result<uid_t> WorkerRooms::open(const Need& need, ChildSpec& spec) {
  const api::StartWorker& order = need.order;
  if (order.cpus) {
    spec.cpus = cpus_.take(order.worker, *order.cpus);
    if (spec.cpus.empty()) {
      spdlog::info("{} of {} asks for {} CPUs, and {} are free here: it shares all of them", order.worker.text(),
                   order.job.text(), *order.cpus, cpus_.free().size());
    }
  }
  const bool has_gpus = takes_gpus(order, need.node);
  if (has_gpus) gpus_[order.worker] = gpus_of(need.node, order.slots);
  spec.syscall_filter = confinement_.syscall_filter();
  if (!confinement_.on()) return uid_t{0};
  Confinement::Worker worker{.id = order.worker,
                             .job = order.job,
                             .cluster = need.cluster,
                             .slots = static_cast<int>(order.slots.size()),
                             .memory = order.memory,
                             .cpus = spec.cpus,
                             .job_file = job_file_of(order.worker),
                             .states = need.states,
                             .log = need.log};
  if (has_gpus) worker.devices = device_files(need.node, order.slots);
  if (const auto named = order.env.find("TIDEPOOL_CHECKPOINT_DIR"); named != order.env.end()) {
    worker.own_folder = named->second;
  }
  const auto uid = confinement_.confine(worker, spec);
  if (uid) users_[order.worker] = *uid;
  return uid;
}

void WorkerRooms::adopt(const ProcessRecord& record) {
  cpus_.adopt(record.worker, record.cpus);
  if (!record.gpus.empty()) gpus_[record.worker] = record.gpus;
  if (record.uid != 0) users_[record.worker] = record.uid;
}

void WorkerRooms::deny_addresses_to(WorkerId worker) {
  const Status denied = confinement_.deny_addresses_to(worker);
  if (denied.ok()) return;
  spdlog::warn(
      "{} was started without the check of addresses that workers have here, and cannot come under it ({}): this node "
      "tells \"metadata\" as missing until it connects anew after that one's end",
      worker.text(), denied.error().message);
  unchecked_.insert(worker);
}

std::vector<std::string> WorkerRooms::kept() const {
  std::vector<std::string> parts = confinement_.kept();
  if (!unchecked_.empty()) std::erase(parts, "metadata");
  return parts;
}

std::vector<std::string> WorkerRooms::gpus_of_worker(WorkerId worker) const {
  const auto found = gpus_.find(worker);
  return found == gpus_.end() ? std::vector<std::string>() : found->second;
}

uid_t WorkerRooms::user_of(WorkerId worker) const {
  const auto found = users_.find(worker);
  return found == users_.end() ? ::geteuid() : found->second;
}

void WorkerRooms::close(WorkerId worker, Told told) {
  auto closing = std::make_shared<Closing>(io_);
  closing->told = std::move(told);
  look(worker, closing);
}

void WorkerRooms::look(WorkerId worker, const std::shared_ptr<Closing>& closing) {
  if (!closing->why) closing->why = proof_of_end(worker);
  if (!closing->why) return look_again(worker, closing, "processes of it live on and cannot be ended");
  if (gpus_.contains(worker)) return look_at_gpus(worker, closing);
  closing->told.done(*closing->why);
}

void WorkerRooms::look_again(WorkerId worker, const std::shared_ptr<Closing>& closing, const std::string& what) {
  const auto lasted =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - closing->since);
  if (closing->told.held && lasted.count() > held_after_.count_us()) {
    spdlog::warn("{} has ended, but {}: its slots are quarantined until that is over", worker.text(), what);
    std::exchange(closing->told.held, nullptr)(what, Duration::micros(lasted.count()));
  }
  closing->timer.expires_after(kLookAgain);
  closing->timer.async_wait([this, worker, closing](const boost::system::error_code& error) {
    if (!error) look(worker, closing);
  });
}

// The driver can take long to answer, so the loop does not wait for it. If it does not report, the GPU counts as free.
void WorkerRooms::look_at_gpus(WorkerId worker, const std::shared_ptr<Closing>& closing) {
  boost::asio::post(sweeper_,
                    [this, worker, closing, gpus = gpus_.at(worker), work = boost::asio::make_work_guard(io_)] {
                      std::string held;
                      for (const std::string& gpu : gpus) {
                        if (gpu_processes_(gpu).value_or(0) > 0) held += (held.empty() ? "" : ", ") + gpu;
                      }
                      boost::asio::post(io_, [this, worker, closing, held] {
                        if (held.empty()) return closing->told.done(*closing->why);
                        look_again(worker, closing, "memory of " + held + " is still held");
                      });
                    });
}

// A confined worker's processes have ended with the first process of their pid namespace; its groups, which no process
// can leave, prove it. Processes of other workers are found by the job file in their environment.
std::optional<std::string> WorkerRooms::proof_of_end(WorkerId worker) {
  if (users_.contains(worker)) {
    const auto kills = confinement_.left(worker);
    if (!kills) return std::nullopt;
    return *kills > 0 ? "it was ended because it reached the bound of its memory" : "";
  }
  const auto left = processes_with("TIDEPOOL_JOB_FILE=" + job_file_of(worker).string());
  if (!left.ok()) return std::nullopt;
  for (const pid_t pid : *left) ::kill(pid, SIGKILL);
  return left->empty() ? std::optional<std::string>("") : std::nullopt;
}

void WorkerRooms::release(WorkerId worker) {
  cpus_.release(worker);
  gpus_.erase(worker);
  unchecked_.erase(worker);
  // If a worker could not be started, its groups still exist.
  if (users_.erase(worker) > 0) static_cast<void>(confinement_.left(worker));
}

void WorkerRooms::job_left(JobId job) {
  boost::asio::post(sweeper_, [gone = confinement_.job_left(job)] {
    std::error_code error;
    for (const auto& folder : gone) std::filesystem::remove_all(folder, error);
  });
}

}  // namespace tidepool::agent
