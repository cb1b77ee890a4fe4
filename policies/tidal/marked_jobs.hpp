// Jobs that are marked again and again and read seldom, then all of them in order: marking is an append, and they are
// put in order when they are taken. Holds no more than a few times as many entries as there are different jobs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/ids.hpp"

namespace tidepool::policies::tidal {

class MarkedJobs {
 public:
  void add(JobId job) {
    if (jobs_.size() >= crowded_) tidy();
    jobs_.push_back(job);
  }
  void add(const auto& jobs) {
    for (const JobId job : jobs) add(job);
  }

  // How many different ones.
  [[nodiscard]] std::size_t size() {
    tidy();
    return jobs_.size();
  }

  // Each once, by id. Nobody is marked any more.
  [[nodiscard]] std::vector<JobId> take() {
    tidy();
    crowded_ = kCrowdedLeast;
    return std::exchange(jobs_, {});
  }

 private:
  static constexpr std::size_t kCrowdedLeast = 1'024;

  void tidy() {
    std::sort(jobs_.begin(), jobs_.end());
    jobs_.erase(std::unique(jobs_.begin(), jobs_.end()), jobs_.end());
    crowded_ = std::max(kCrowdedLeast, 2 * jobs_.size());
  }

  std::vector<JobId> jobs_;
  std::size_t crowded_ = kCrowdedLeast;  // with so many entries it is tidied up
};

}  // namespace tidepool::policies::tidal
