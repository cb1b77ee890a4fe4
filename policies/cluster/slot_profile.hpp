// How many slots are free from when on: a step function of future time, from now to forever. Times are whole seconds
// after now. A policy that plans ahead fills it job by job.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tidepool::policies::cluster {

inline constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

// Of one job: `size` from `from_s` on, until the next entry or the end of the plan.
struct Stretch {
  std::int64_t from_s = 0;
  int size = 0;
  bool operator==(const Stretch&) const = default;
};

class SlotProfile {
 public:
  explicit SlotProfile(int slots) : steps_{{.from_s = 0, .free = slots}} {}

  struct Step {
    std::int64_t from_s = 0;  // the first at 0, ascending
    int free = 0;
  };
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] int free_now() const { return steps_.front().free; }

  // Makes `at_s` the start of a step of its own.
  void cut(std::int64_t at_s);
  // Takes the slots of a plan that ends at `end_s`, or returns them. Requires: they are there.
  void take(const std::vector<Stretch>& plan, std::int64_t end_s) { add(plan, end_s, -1); }
  void give(const std::vector<Stretch>& plan, std::int64_t end_s) { add(plan, end_s, +1); }

 private:
  void add(const std::vector<Stretch>& plan, std::int64_t end_s, int sign);
  std::vector<Step> steps_;
};

// Slots x seconds that a plan takes.
[[nodiscard]] double slot_seconds(const std::vector<Stretch>& plan, std::int64_t end_s);

}  // namespace tidepool::policies::cluster
