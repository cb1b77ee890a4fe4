#include "workers/agent/system/cpu_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <set>

namespace tidepool::agent {

std::vector<int> CpuPool::take(WorkerId worker, int count) {
  std::vector<int> cpus = free();
  if (count <= 0 || cpus.size() < static_cast<std::size_t>(count)) return {};
  cpus.resize(static_cast<std::size_t>(count));
  held_[worker] = cpus;
  return cpus;
}

void CpuPool::adopt(WorkerId worker, std::vector<int> cpus) {
  if (!cpus.empty()) held_[worker] = std::move(cpus);
}

std::vector<int> CpuPool::free() const {
  std::set<int> held;
  for (const auto& [worker, cpus] : held_) held.insert(cpus.begin(), cpus.end());
  std::vector<int> cpus = cpus_;
  std::erase_if(cpus, [&](int cpu) { return held.contains(cpu); });
  return cpus;
}

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace tidepool::agent
