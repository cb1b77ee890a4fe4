#include "workers/agent/isolation/confinement.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "workers/agent/isolation/denied_calls.hpp"
#include "workers/agent/system/state_files.hpp"
#include "workers/agent/system/unique_fd.hpp"
#include "workers/agent/system/wait_for_end.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClaims = "/run/tidepool/uids";
constexpr const char* kGone = ".gone-";
constexpr const char* kGroupsRoot = "/sys/fs/cgroup";

// Whether this process may create the namespaces of a confined worker; only a child process tries it.
bool can_make_namespaces() {
  const auto child = static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child < 0) return false;
  if (child == 0) {
    const bool works = ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                       ::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID, nullptr) == 0 &&
                       ::mount("proc", "/proc", "proc", MS_NOSUID, nullptr) == 0;
    ::_exit(works ? 0 : 1);
  }
  const int status = wait_for_end(child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string why_not_here(const IsolationPlace& place) {
  if (::geteuid() != 0) return "the agent does not run as root";
  if (::access(place.confiner.c_str(), X_OK) != 0) return place.confiner.string() + " is not installed";
  if (!can_make_namespaces()) return "this host lets the agent make no pid and mount namespaces";
  return {};
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const auto [rest, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end();
}

std::int64_t memory_of_host() {
  const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * ::sysconf(_SC_PAGESIZE);
}

// Files of a job that ran unconfined belong to root. Nothing else in its folder changes its owner.
Status give_old_files(const fs::path& folder, uid_t from, uid_t uid) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    struct stat info{};
    if (::lstat(entry->path().c_str(), &info) != 0 || info.st_uid != from || S_ISDIR(info.st_mode)) continue;
    if (::lchown(entry->path().c_str(), uid, uid) != 0) return errno_error("give " + entry->path().string() + " away");
  }
  return ok_status();
}

// Removes what an earlier agent had put aside.
void remove_gone(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> gone;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().find(kGone) != std::string::npos) gone.push_back(entry->path());
  }
  for (const fs::path& path : gone) fs::remove_all(path, error);
}

Status check_programs(const IsolationPlace& place) {
  const fs::path programs = place.confiner.parent_path();
  std::vector<fs::path> unseen = {"/tmp", "/var/tmp", "/dev", "/proc", view::kRoot};
  unseen.insert(unseen.end(), place.hidden.begin(), place.hidden.end());
  const auto over = std::ranges::find_if(unseen, [&](const fs::path& each) { return lies_in(programs, each); });
  if (over == unseen.end()) return ok_status();
  return io_error("jobs cannot be isolated here: the programs of this agent, such as tidepool-trainer, lie in " +
                  programs.string() + ", and isolated jobs do not see the host's " + over->string() +
                  "; install them elsewhere, such as in /opt/tidepool/bin, or start the agent with --isolation none");
}

}  // namespace

Confinement::Confinement(const IsolationOptions& options, IsolationPlace place)
    : options_(options), place_(std::move(place)), key_(folder_key(place_.state_dir)) {}

Result<Confinement> Confinement::open(const IsolationOptions& options, IsolationPlace place) {
  Confinement confinement(options, std::move(place));
  confinement.why_none_ =
      options.mode == IsolationOptions::Mode::kNone ? "--isolation none was given" : why_not_here(confinement.place_);
  if (!confinement.on() && options.mode == IsolationOptions::Mode::kRequired) {
    return io_error("jobs cannot be isolated here, as --isolation required asks: " + confinement.why_none_);
  }
  if (confinement.on()) {
    TP_TRY(check_programs(confinement.place_));
    TP_TRY(confinement.start());
  }
  TP_TRY(confinement.start_addresses());
  TP_TRY(confinement.start_filter());
  return confinement;
}

Status Confinement::start() {
  std::error_code error;
  fs::create_directories(view::kRoot, error);
  if (error || ::chmod(view::kRoot, 0755) != 0) return errno_error(std::string("make ") + view::kRoot);
  TP_TRY(make_private_folder(place_.state_dir / "tmp"));
  if (!place_.memory_folder.empty()) {
    TP_TRY(make_private_folder(place_.memory_folder));
    TP_TRY(make_private_folder(place_.memory_folder / ".shm"));
  }
  remove_gone(place_.state_dir / "tmp");
  remove_gone(place_.memory_folder / ".shm");
  groups_.emplace(kGroupsRoot, key_);
  kept_ = {"uid", "mounts", "processes"};
  if (place_.devices_known) kept_.emplace_back("devices");
  if (groups_->bounds_memory() && options_.memory_per_slot != 0) kept_.emplace_back("memory");
  if (groups_->bounds_cpus()) kept_.emplace_back("cpus");
  if (groups_->bounds_processes()) kept_.emplace_back("pids");
  return ok_status();
}

Status Confinement::deny_addresses() {
  if (!on()) return io_error("jobs are not isolated here, because " + why_none_);
  auto filter = AddressFilter::load(
      {.metadata = options_.metadata != IsolationOptions::Metadata::kAllow, .denied = options_.denied});
  if (!filter) return filter.error();
  return groups_->deny_addresses(kGroupsRoot, key_, *std::move(filter));
}

// What the options request by name is enforced or refused; what is only a default is reported as missing.
Status Confinement::start_addresses() {
  using Metadata = IsolationOptions::Metadata;
  const bool metadata = options_.metadata != Metadata::kAllow;
  const bool asked = options_.metadata == Metadata::kDeny || !options_.denied.empty();
  if (!asked && (!metadata || !on())) return ok_status();
  const Status denied = deny_addresses();
  if (denied.ok()) {
    if (metadata) kept_.emplace_back("metadata");
    return ok_status();
  }
  why_metadata_ = denied.error().message;
  if (!asked) return ok_status();
  return io_error(std::string("addresses cannot be denied to jobs here, as ") +
                  (options_.denied.empty() ? "--metadata deny" : "--deny-address") + " asks: " + why_metadata_ +
                  "; start the agent without it, or on a host that can");
}

Status Confinement::start_filter() {
  if (!options_.filter_calls) {
    why_no_filter_ = "--syscall-filter off was given";
    return ok_status();
  }
  auto filter = make_syscall_filter();
  const Status works = filter ? try_syscall_filter(*filter) : Status(filter.error());
  if (works.ok()) {
    syscall_filter_ = *std::move(filter);
    kept_.emplace_back("syscalls");
    return ok_status();
  }
  why_no_filter_ = works.error().message;
  if (options_.mode != IsolationOptions::Mode::kRequired) return ok_status();
  return io_error("jobs cannot be isolated here, as --isolation required asks: " + why_no_filter_ +
                  "; --syscall-filter off does without");
}

fs::path Confinement::tmp_of(JobId job) const {
  return place_.state_dir / "tmp" / job.text();
}

fs::path Confinement::memory_of(JobId job) const {
  if (place_.memory_folder.empty()) return place_.state_dir / "tmp" / (job.text() + ".shm");
  return place_.memory_folder / ".shm" / (key_ + "-" + job.text());
}

std::int64_t Confinement::memory_per_slot() const {
  const std::int64_t share = memory_of_host() / 10 * 9 / std::max(1, place_.slots);
  return options_.memory_per_slot.value_or(std::max<std::int64_t>(0, share));
}

std::optional<std::int64_t> Confinement::memory_bound(const Worker& worker) const {
  if (worker.memory) return worker.memory;
  const std::int64_t share = memory_per_slot();
  return share > 0 ? std::optional(share * worker.slots) : std::nullopt;
}

// In a folder that only root may change, so no job can have replaced it by a link.
Result<fs::path> Confinement::own_folder(const fs::path& path, uid_t uid) const {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("create the folder " + path.string());
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!folder || ::fstat(folder.get(), &info) != 0) return errno_error("open the folder " + path.string());
  if (info.st_uid == uid) return path;
  TP_TRY(give_old_files(path, info.st_uid, uid));
  if (::fchown(folder.get(), uid, uid) != 0) return errno_error("give the folder " + path.string() + " to a job");
  return path;
}

Result<uid_t> Confinement::confine(const Worker& worker, ChildSpec& spec) const {
  const auto uid = JobUids(options_.uids, kClaims).claim(worker.cluster, worker.job);
  if (!uid) return uid.error();
  const auto bytes = memory_bound(worker);
  auto groups = groups_->make(worker.id,
                              {.memory_bytes = bytes, .processes = options_.processes_per_worker, .cpus = worker.cpus});
  if (!groups) return groups.error();
  TP_TRY(make_private_folder(worker.states.parent_path()));
  const auto states = own_folder(worker.states, *uid);
  if (!states) return states.error();
  const auto tmp = own_folder(tmp_of(worker.job), *uid);
  if (!tmp) return tmp.error();
  const auto memory = own_folder(memory_of(worker.job), *uid);
  if (!memory) return memory.error();
  if (::chmod(worker.job_file.c_str(), 0444) != 0) return errno_error("show " + worker.job_file.string());
  // So that the worker can open /dev/stdout.
  if (::fchown(worker.log, *uid, *uid) != 0) return errno_error("give a worker its log");
  ConfinePlan plan{.program = spec.program,
                   .places = spec.places,
                   .argv = spec.argv,
                   .environment = spec.environment,
                   .workdir = spec.workdir,
                   .make_folder = worker.own_folder.value_or(""),
                   .uid = *uid,
                   .syscall_filter = spec.syscall_filter,
                   .socket_folder = (place_.state_dir / "sock").string(),
                   .job_file = worker.job_file.string(),
                   .states = states->string(),
                   .tmp = tmp->string(),
                   .shared_memory = memory->string(),
                   .devices = worker.devices,
                   .groups = std::move(*groups)};
  for (const fs::path& path : place_.hidden) plan.hidden.push_back(path.string());
  if (!groups_->bounds_processes()) plan.processes_max = options_.processes_per_worker;
  if (!groups_->bounds_memory()) plan.data_max = bytes;
  spec.plan = to_text(plan);
  spec.confiner = {place_.confiner.string(), worker.id.text()};
  return *uid;
}

std::optional<std::int64_t> Confinement::left(WorkerId worker) const {
  if (!groups_) return 0;
  const std::int64_t kills = groups_->memory_kills(worker);
  return groups_->remove(worker) ? std::optional(kills) : std::nullopt;
}

std::vector<fs::path> Confinement::job_left(JobId job) const {
  std::vector<fs::path> gone;
  if (!on()) return gone;
  for (const fs::path& folder : {tmp_of(job), memory_of(job)}) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    fs::path aside = folder.string() + kGone + std::to_string(now);
    std::error_code error;
    fs::rename(folder, aside, error);
    if (!error) gone.push_back(std::move(aside));
  }
  return gone;
}

}  // namespace tidepool::agent
