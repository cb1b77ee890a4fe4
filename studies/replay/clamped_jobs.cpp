#include "studies/replay/clamped_jobs.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::sim {

int nearest_size(const std::vector<int>& sizes, int wanted) {
  TP_CHECK(!sizes.empty(), "a profile that has the job has a size of it");
  const auto above = std::ranges::upper_bound(sizes, wanted);
  return above == sizes.begin() ? sizes.front() : *(above - 1);
}

std::vector<std::string> ClampedJobs::notes(std::size_t jobs) const {
  const auto note = [&](std::size_t count, const char* what) {
    const char* ask = count == 1 ? " asks for " : " ask for ";
    return std::to_string(count) + " of " + std::to_string(jobs) + (jobs == 1 ? " job" : " jobs") + ask + what +
           " their profile does not allow; they get the nearest that it does";
  };
  std::vector<std::string> notes;
  if (sizes > 0) notes.push_back(note(sizes, "a number of slots that"));
  if (batches > 0) notes.push_back(note(batches, "a batch size that"));
  return notes;
}

}  // namespace tidepool::sim
