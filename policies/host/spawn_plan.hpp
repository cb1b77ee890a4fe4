// How the daemon starts a child process: in a session of its own, with every signal unblocked and set to its default.
// It has only the descriptors named here, so that no socket or file of the daemon stays open in a process that outlives
// it.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace tidepool::policies::host {

class SpawnPlan {
 public:
  SpawnPlan();
  ~SpawnPlan();
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // The child opens this file as that descriptor; O_CREAT creates it for its owner alone.
  void open(const std::string& path, int flags, int as);
  // A descriptor of the parent, or one that the child has at that point, as that descriptor.
  void give(int fd, int as);
  // Starts words[0] with the others as its arguments; descriptors above `last` are closed. 0 or an errno.
  [[nodiscard]] int run(std::vector<std::string> words, int last, char* const* environment, pid_t& child);

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace tidepool::policies::host
