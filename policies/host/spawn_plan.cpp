#include "policies/host/spawn_plan.hpp"

#include <signal.h>

#include "base/check.hpp"

namespace tidepool::policies::host {

SpawnPlan::SpawnPlan() {
  TP_CHECK(posix_spawn_file_actions_init(&files_) == 0 && posix_spawnattr_init(&attributes_) == 0,
           "there is memory for a process's description");
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &all);
  posix_spawnattr_setflags(&attributes_,
                           static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

SpawnPlan::~SpawnPlan() {
  posix_spawn_file_actions_destroy(&files_);
  posix_spawnattr_destroy(&attributes_);
}

void SpawnPlan::open(const std::string& path, int flags, int as) {
  posix_spawn_file_actions_addopen(&files_, as, path.c_str(), flags, 0600);
}

void SpawnPlan::give(int fd, int as) {
  posix_spawn_file_actions_adddup2(&files_, fd, as);
}

int SpawnPlan::run(std::vector<std::string> words, int last, char* const* environment, pid_t& child) {
  posix_spawn_file_actions_addclosefrom_np(&files_, last + 1);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return posix_spawn(&child, arguments[0], &files_, &attributes_, arguments.data(), environment);
}

}  // namespace tidepool::policies::host
