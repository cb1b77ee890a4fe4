#include "workers/agent/memory_tier.hpp"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/files/whole_file.hpp"
#include "workers/agent/system/state_files.hpp"
#include "workers/runtime/checkpoint/checkpoint_folder.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

// File next to the states: their destination folder.
constexpr const char* kDestination = "destination";
// File next to a job's folder of states on disk: identifies the job.
constexpr const char* kSubmitted = "submitted";
// After a failed move, such as on a full disk.
constexpr auto kTryAgain = std::chrono::seconds(30);

std::vector<fs::path> states_in(const fs::path& folder) {
  std::vector<fs::path> states;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_symlink() && runtime::CheckpointName::parse(it->path().filename().string())) {
      states.push_back(it->path());
    }
  }
  return states;
}

// False while the folder contains a state. Anything else in it was never finished.
bool remove_empty(const fs::path& folder) {
  if (!states_in(folder).empty()) return false;
  std::error_code error;
  fs::remove_all(folder, error);
  return true;
}

// An unused name for putting something aside.
fs::path free_name(const std::string& wanted) {
  std::error_code error;
  fs::path name = wanted;
  for (int number = 2; fs::exists(name, error); ++number) name = wanted + "." + std::to_string(number);
  return name;
}

}  // namespace

fs::path find_memory_folder() {
  struct statfs info{};
  if (::statfs("/dev/shm", &info) != 0 || info.f_type != TMPFS_MAGIC) return {};
  return "/dev/shm/tidepool-" + std::to_string(::geteuid());
}

MemoryTier::MemoryTier(MemoryTierOptions options) : options_(std::move(options)), thread_([this] { run(); }) {}

MemoryTier::~MemoryTier() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

fs::path MemoryTier::disk_folder(JobId job) const {
  return options_.jobs / job.text() / "checkpoints";
}

void MemoryTier::join_cluster(const std::string& cluster) {
  {
    const std::lock_guard lock(mutex_);
    if (options_.root.empty() || cluster_ == cluster) return;
    cluster_ = cluster;
    look_around();
  }
  changed_.notify_all();
}

void MemoryTier::look_around() {
  std::error_code error;
  for (const fs::path& root : {options_.root, options_.earlier}) {
    if (root.empty()) continue;
    for (fs::directory_iterator it(root / cluster_, error), end; !error && it != end; it.increment(error)) {
      const auto job = JobId::parse(it->path().filename().string());
      if (job && !busy_.contains(*job) && (root == options_.root || is_own(it->path()))) to_move_.insert(*job);
    }
    error.clear();
  }
}

// For the folder that agents shared: whether a job of this agent left its states there; their destination shows it.
bool MemoryTier::is_own(const fs::path& folder) const {
  const auto told = read_whole_file(folder / kDestination);
  if (!told.ok() || told->empty()) return false;
  const fs::path jobs = fs::path(*told).parent_path().parent_path();
  if (fs::path(*told) == jobs / folder.filename() / "checkpoints" && jobs.filename() == "jobs") {
    return jobs == options_.jobs;
  }
  std::error_code error;  // a folder that the job file names: any agent that knows the job
  return fs::exists(options_.jobs / folder.filename(), error);
}

std::vector<fs::path> MemoryTier::folders_of(JobId job) const {
  if (options_.root.empty() || cluster_.empty()) return {};
  std::vector<fs::path> folders{options_.root / cluster_ / job.text()};
  if (options_.earlier.empty() || options_.earlier == options_.root) return folders;
  const fs::path earlier = options_.earlier / cluster_ / job.text();
  if (is_own(earlier)) folders.push_back(earlier);
  return folders;
}

void MemoryTier::forget_cluster(const std::string& cluster) {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  if (!options_.root.empty() && !cluster.empty()) fs::remove_all(options_.root / cluster, error);
  for (const JobId job : kept_jobs()) {
    for (const fs::path& memory : folders_of(job)) fs::remove_all(memory, error);
  }
  if (fs::exists(options_.jobs, error)) {
    const fs::path aside = free_name(options_.jobs.string() + "." + cluster);
    fs::rename(options_.jobs, aside, error);
    if (error) options_.say("the states of cluster " + cluster + " stay where they are: " + error.message());
  }
  cluster_.clear();
  to_move_.clear();
  busy_.clear();
}

std::optional<fs::path> MemoryTier::enter(JobId job, const fs::path& disk) {
  const std::lock_guard lock(mutex_);
  busy_.insert(job);
  to_move_.erase(job);
  if (options_.root.empty() || cluster_.empty()) return std::nullopt;
  const fs::path folder = options_.root / cluster_ / job.text();
  Status status = make_private_folder(options_.root);
  if (status.ok()) status = make_private_folder(options_.root / cluster_);
  if (status.ok()) status = make_private_folder(folder);
  if (status.ok() && !disk.empty()) status = replace_file(folder / kDestination, disk.string());
  if (status.ok()) take_over(job, folder);
  if (status.ok()) return folder;
  options_.say("no states in memory: " + status.error().message);
  return std::nullopt;
}

// Moves states that an earlier version left in memory to where the job's next worker looks; a move within one file
// system is atomic.
void MemoryTier::take_over(JobId job, const fs::path& folder) const {
  if (options_.earlier.empty() || options_.earlier == options_.root) return;
  const fs::path earlier = options_.earlier / cluster_ / job.text();
  if (!is_own(earlier)) return;
  std::error_code error;
  for (const fs::path& state : states_in(earlier)) fs::rename(state, folder / state.filename(), error);
}

void MemoryTier::know_job(JobId job, std::int64_t submitted_at) {
  const std::lock_guard lock(mutex_);
  if (submitted_at == 0 || busy_.contains(job)) return;
  const fs::path folder = options_.jobs / job.text();
  const std::string now = std::to_string(submitted_at);
  const auto before = read_whole_file(folder / kSubmitted);
  if (before.ok() && *before == now) return;
  std::error_code error;
  if (before.ok()) {
    to_move_.erase(job);
    for (const fs::path& memory : folders_of(job)) fs::remove_all(memory, error);
    const fs::path aside = free_name(options_.jobs.string() + ".lost/" + job.text() + "." + *before);
    fs::create_directories(aside.parent_path(), error);
    fs::rename(folder, aside, error);
    options_.say("the states of another " + job.text() + ", of a lost timeline, are put aside: " + aside.string());
  }
  Status status = make_private_folder(options_.jobs);
  if (status.ok()) status = make_private_folder(folder);
  if (status.ok()) status = replace_file(folder / kSubmitted, now);
  if (!status.ok()) options_.say(status.error().message);
}

void MemoryTier::leave(JobId job) {
  {
    const std::lock_guard lock(mutex_);
    busy_.erase(job);
    if (!cluster_.empty()) to_move_.insert(job);
  }
  changed_.notify_all();
}

void MemoryTier::drop(JobId job) {
  {
    const std::lock_guard lock(mutex_);
    busy_.erase(job);
    to_move_.erase(job);
    to_drop_.insert(job);
  }
  changed_.notify_all();
}

std::vector<JobId> MemoryTier::kept_jobs() const {
  std::vector<JobId> jobs;
  std::error_code error;
  for (fs::directory_iterator it(options_.jobs, error), end; !error && it != end; it.increment(error)) {
    if (const auto job = JobId::parse(it->path().filename().string())) jobs.push_back(*job);
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

// Runs on the thread that also moves states, so that no state is being moved while its destination is deleted.
void MemoryTier::drop_states(JobId job, const std::vector<fs::path>& memory) {
  std::error_code error;
  for (const fs::path& folder : memory) fs::remove_all(folder, error);
  const auto removed = fs::remove_all(options_.jobs / job.text(), error);
  if (error) {
    options_.say("the states of " + job.text() + " stay: " + error.message());
  } else if (removed > 0) {
    options_.say("the states of " + job.text() + " are deleted: it has ended");
  }
}

void MemoryTier::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !to_move_.empty() || !to_drop_.empty(); });
    for (const JobId job : std::exchange(to_drop_, {})) {
      const auto memory = folders_of(job);
      lock.unlock();
      drop_states(job, memory);
      lock.lock();
    }
    if (to_move_.empty()) {
      if (stopping_ && to_drop_.empty()) return;
      continue;
    }
    const fs::path cluster = options_.root / cluster_;
    for (const JobId job : std::exchange(to_move_, {})) {
      const auto folders = folders_of(job);
      lock.unlock();
      for (const fs::path& folder : folders) move_states_of(folder, job);
      lock.lock();
      if (busy_.contains(job)) continue;
      for (const fs::path& folder : folders) {
        if (!remove_empty(folder) && !stopping_) to_move_.insert(job);
      }
    }
    std::error_code error;
    fs::remove(cluster, error);  // only if it is empty
    fs::remove(options_.root, error);
    if (!options_.earlier.empty()) fs::remove(options_.earlier / cluster_, error);
    if (!to_move_.empty()) changed_.wait_for(lock, kTryAgain, [this] { return stopping_ || !to_drop_.empty(); });
  }
}

fs::path MemoryTier::destination_of(const fs::path& folder, JobId job) const {
  const auto told = read_whole_file(folder / kDestination);
  return told.ok() && !told->empty() ? fs::path(*told) : disk_folder(job);
}

void MemoryTier::move_states_of(const fs::path& folder, JobId job) {
  const fs::path disk = destination_of(folder, job);
  for (const fs::path& state : states_in(folder)) {
    const Status moved = runtime::move_checkpoint(state, disk);
    options_.say(moved.ok() ? "the saved state " + state.filename().string() + " lies in " + disk.string()
                            : "a saved state stays in memory for now: " + moved.error().message);
  }
}

}  // namespace tidepool::agent
