// What slots of a job were used for other than training: a part of its account for each cause. Time without a cause is
// useful, so the parts always add up to the amount charged to the account.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool::core {

// Slots x time, and its cost.
struct Used {
  Duration slot_time;
  Money cost;
  bool operator==(const Used&) const = default;
};
[[nodiscard]] inline Used operator+(Used a, Used b) {
  return {a.slot_time + b.slot_time, a.cost + b.cost};
}
[[nodiscard]] inline Used operator-(Used a, Used b) {
  return {a.slot_time - b.slot_time, a.cost - b.cost};
}

enum class Overhead {
  kBootAndResize,     // workers that boot, wait, save or leave, and members that pause for a change of size
  kStragglers,        // members that wait for a member judged slow
  kIdle,              // members of a job that was found stuck
  kLostToPreemption,  // steps repeated after the job released its slots
  kLostToFailure,     // steps repeated, and members that paused, after a worker, program or node was lost
};
inline constexpr std::array kOverheads{Overhead::kBootAndResize, Overhead::kStragglers, Overhead::kIdle,
                                       Overhead::kLostToPreemption, Overhead::kLostToFailure};
[[nodiscard]] const char* to_text(Overhead overhead);  // "boot_and_resize", ...

// By cause.
class Overheads {
 public:
  [[nodiscard]] Used& operator[](Overhead overhead) { return parts_[static_cast<std::size_t>(overhead)]; }
  [[nodiscard]] const Used& operator[](Overhead overhead) const { return parts_[static_cast<std::size_t>(overhead)]; }
  [[nodiscard]] Used total() const {
    Used sum;
    for (const Used& part : parts_) sum = sum + part;
    return sum;
  }
  [[nodiscard]] Overheads operator-(const Overheads& other) const {
    Overheads left;
    for (std::size_t i = 0; i < parts_.size(); ++i) left.parts_[i] = parts_[i] - other.parts_[i];
    return left;
  }
  bool operator==(const Overheads&) const = default;

 private:
  std::array<Used, kOverheads.size()> parts_;
};

}  // namespace tidepool::core
