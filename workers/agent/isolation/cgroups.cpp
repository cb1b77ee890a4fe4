#include "workers/agent/isolation/cgroups.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "base/files/whole_file.hpp"
#include "workers/agent/system/state_files.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kControllers[] = {"memory", "pids", "cpu", "cpuset"};
constexpr const char* kAddresses = "addresses";  // not a controller: any group of version 2 accepts the filter
constexpr int kRoundsMost = 100;                 // of searching for processes that a worker has started meanwhile

Status put(const fs::path& file, const std::string& text) {
  const UniqueFd opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!opened) return errno_error("open " + file.string());
  if (::write(opened.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return errno_error("write \"" + text + "\" to " + file.string());
  }
  return ok_status();
}

bool make_group(const fs::path& group) {
  return ::mkdir(group.c_str(), 0755) == 0 || errno == EEXIST;
}

std::set<std::string> words_of(const fs::path& file) {
  const auto text = read_whole_file(file);
  std::set<std::string> words;
  if (!text) return words;
  std::istringstream in(*text);
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

std::string list_of(const std::vector<int>& cpus) {
  std::string list;
  for (const int cpu : cpus) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  return list;
}

// A new cpuset of version 1 has neither CPUs nor memory and accepts no process.
bool inherit_cpuset(const fs::path& group) {
  for (const char* what : {"cpuset.cpus", "cpuset.mems"}) {
    const auto parents = read_whole_file(group.parent_path() / what);
    if (!parents || !put(group / what, *parents).ok()) return false;
  }
  return true;
}

// Moves all processes of one group into the other, including those started meanwhile.
Status bring_all(const fs::path& from, const fs::path& to) {
  for (int round = 0; round < kRoundsMost; ++round) {
    std::set<std::string> outside = words_of(from / "cgroup.procs");
    for (const std::string& pid : words_of(to / "cgroup.procs")) outside.erase(pid);
    if (outside.empty()) return ok_status();
    // A process that cannot enter has ended, or is found again in the next round.
    for (const std::string& pid : outside) static_cast<void>(put(to / "cgroup.procs", pid));
  }
  return io_error("its processes cannot all enter the control group " + to.string());
}

}  // namespace

Cgroups::Cgroups(const fs::path& root, const std::string& name) {
  look_at_unified(root, name);
  for (const char* controller : kControllers) {
    if (tree_of(controller).empty()) look_at_tree(root, controller, name);
  }
}

void Cgroups::look_at_unified(const fs::path& root, const std::string& name) {
  std::error_code error;
  if (!fs::exists(root / "cgroup.controllers", error)) return;
  const fs::path ours = root / "tidepool";
  if (!make_group(ours)) return;
  for (const char* controller : kControllers) {
    const std::string wanted = "+" + std::string(controller);
    // Fails if a container's daemon does not delegate the controllers.
    static_cast<void>(put(root / "cgroup.subtree_control", wanted));
    static_cast<void>(put(ours / "cgroup.subtree_control", wanted));
  }
  if (!make_group(ours / name)) return;
  for (const char* controller : kControllers) {
    static_cast<void>(put(ours / name / "cgroup.subtree_control", "+" + std::string(controller)));
  }
  for (const std::string& controller : words_of(ours / name / "cgroup.subtree_control")) {
    if (std::find(std::begin(kControllers), std::end(kControllers), controller) == std::end(kControllers)) continue;
    trees_.push_back({.controller = controller, .folder = ours / name, .unified = true});
  }
}

void Cgroups::look_at_tree(const fs::path& root, const std::string& controller, const std::string& name) {
  std::error_code error;
  const fs::path ours = root / controller / "tidepool";
  if (!fs::exists(root / controller / "cgroup.procs", error) || !make_group(ours)) return;
  if (controller == "cpuset" && !inherit_cpuset(ours)) return;
  if (!make_group(ours / name)) return;
  if (controller == "cpuset" && !inherit_cpuset(ours / name)) return;
  trees_.push_back({.controller = controller, .folder = ours / name, .unified = false});
}

fs::path Cgroups::tree_of(const std::string& controller) const {
  const auto found =
      std::find_if(trees_.begin(), trees_.end(), [&](const Tree& tree) { return tree.controller == controller; });
  return found == trees_.end() ? fs::path() : found->folder;
}

Status Cgroups::deny_addresses(const fs::path& root, const std::string& name, AddressFilter filter) {
  std::error_code error;
  fs::path unified = root;
  if (!fs::exists(unified / "cgroup.controllers", error)) unified /= "unified";
  if (!fs::exists(unified / "cgroup.controllers", error)) {
    return io_error("this host has no control groups of version 2 at " + root.string());
  }
  const fs::path folder = unified / "tidepool" / name;
  const fs::path trial = folder / "trial";
  for (const fs::path& group : {folder.parent_path(), folder, trial}) {
    if (!make_group(group)) return errno_error("make the control group " + group.string());
  }
  Status taken = filter.attach(trial);
  ::rmdir(trial.c_str());
  if (!taken.ok()) return taken;
  addresses_ = std::move(filter);
  trees_.push_back({.controller = kAddresses, .folder = folder, .unified = true});
  return ok_status();
}

Status Cgroups::deny_addresses_to(WorkerId worker) const {
  if (!addresses_) return ok_status();
  std::error_code error;
  const fs::path group = tree_of(kAddresses) / worker.text();
  if (fs::exists(group, error)) return addresses_->attach(group);
  const auto other = std::find_if(trees_.begin(), trees_.end(),
                                  [&](const Tree& tree) { return fs::exists(tree.folder / worker.text(), error); });
  if (other == trees_.end()) return io_error("it is in no control group");
  if (!make_group(group)) return errno_error("make the control group " + group.string());
  TP_TRY(addresses_->attach(group));
  return bring_all(other->folder / worker.text(), group);
}

Status Cgroups::bound(const Tree& tree, const fs::path& group, const GroupBounds& bounds) const {
  if (tree.controller == kAddresses) return addresses_->attach(group);
  if (tree.controller == "pids") return put(group / "pids.max", std::to_string(bounds.processes));
  if (tree.controller == "cpuset") {
    if (!tree.unified && !inherit_cpuset(group)) return io_error("cannot give CPUs to " + group.string());
    return bounds.cpus.empty() ? ok_status() : put(group / "cpuset.cpus", list_of(bounds.cpus));
  }
  if (tree.controller != "memory" || !bounds.memory_bytes) return ok_status();
  const std::string bytes = std::to_string(*bounds.memory_bytes);
  if (!tree.unified) {
    TP_TRY(put(group / "memory.limit_in_bytes", bytes));
    // Missing if the kernel does not account for swap.
    static_cast<void>(put(group / "memory.memsw.limit_in_bytes", bytes));
    return ok_status();
  }
  TP_TRY(put(group / "memory.max", bytes));
  static_cast<void>(put(group / "memory.swap.max", "0"));
  return put(group / "memory.oom.group", "1");
}

Result<std::vector<std::string>> Cgroups::make(WorkerId worker, const GroupBounds& bounds) const {
  std::set<std::string> files;
  for (const Tree& tree : trees_) {
    const fs::path group = tree.folder / worker.text();
    if (!make_group(group)) return errno_error("make the control group " + group.string());
    TP_TRY(bound(tree, group, bounds));
    files.insert((group / "cgroup.procs").string());
  }
  return std::vector<std::string>(files.begin(), files.end());
}

std::int64_t Cgroups::memory_kills(WorkerId worker) const {
  for (const char* name : {"memory.events", "memory.oom_control"}) {
    const auto text = read_whole_file(tree_of("memory") / worker.text() / name);
    if (!text) continue;
    std::istringstream in(*text);
    std::string key;
    for (std::int64_t value = 0; in >> key >> value;) {
      if (key == "oom_kill") return value;
    }
  }
  return 0;
}

bool Cgroups::remove(WorkerId worker) const {
  bool gone = true;
  for (const Tree& tree : trees_) {
    const fs::path group = tree.folder / worker.text();
    if (::rmdir(group.c_str()) == 0 || errno == ENOENT) continue;
    gone = false;
    for (const std::string& pid : words_of(group / "cgroup.procs")) ::kill(std::atoi(pid.c_str()), SIGKILL);
  }
  return gone;
}

Cgroups::~Cgroups() {
  for (const Tree& tree : trees_) ::rmdir(tree.folder.c_str());
}

}  // namespace tidepool::agent
