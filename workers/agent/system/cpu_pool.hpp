// The CPUs of a node that workers have exclusively: workers of jobs with resources.cpus. At most one worker holds a
// CPU. A worker that requests none, or more than are free, may run on every CPU that the agent may use.
#pragma once

#include <map>
#include <vector>

#include "base/ids.hpp"

namespace tidepool::agent {

class CpuPool {
 public:
  // `cpus`: numbers of the CPUs that the agent may use, ascending.
  explicit CpuPool(std::vector<int> cpus) : cpus_(std::move(cpus)) {}

  // The lowest `count` free CPUs, held by the worker until it is released; none if fewer are free.
  [[nodiscard]] std::vector<int> take(WorkerId worker, int count);
  // The worker already holds these, assigned by an earlier agent.
  void adopt(WorkerId worker, std::vector<int> cpus);
  void release(WorkerId worker) { held_.erase(worker); }

  [[nodiscard]] std::vector<int> free() const;

 private:
  std::vector<int> cpus_;
  std::map<WorkerId, std::vector<int>> held_;
};

// The CPUs that this process may run on, ascending; none if the kernel does not report them.
[[nodiscard]] std::vector<int> usable_cpus();

}  // namespace tidepool::agent
