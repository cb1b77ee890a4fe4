// Why a start did not go on from a saved state, and what to do.
#pragma once

#include <string>

#include "core/state/unused_state.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {

inline const char* advice_of(UnusedWhy why) {
  switch (why) {
    case UnusedWhy::kDamaged: return "its checksum is wrong; check the disk that it lies on";
    case UnusedWhy::kOtherLayout:
      return "it is of another program or of other data; if these have changed, put back what saved it, then suspend "
             "and resume the job to go on from it";
    case UnusedWhy::kUnreadable:
      return "its file could not be read; let the job's user read it, then suspend and resume the job to go on from it";
  }
  return "its checksum is wrong; check the disk that it lies on";
}

// "the state of step 1,200 was not used: its checksum is wrong; check the disk that it lies on"
inline std::string sentence(const UnusedState& unused) {
  return "the state of step " + grouped(static_cast<double>(unused.step)) + " was not used: " + advice_of(unused.why);
}

}  // namespace tidepool::core
