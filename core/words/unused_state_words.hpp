// Why a start did not continue from a saved state, and what to do.
#pragma once

#include <string>

#include "core/state/unused_state.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {

inline const char* advice_of(UnusedWhy why) {
  switch (why) {
    case UnusedWhy::kDamaged: break;
    case UnusedWhy::kOtherLayout:
      return "it is of another program, of another version of it or of other data; if these have changed, "
             "restore the program and data that saved it, then suspend and resume the job to continue from it";
    case UnusedWhy::kUnreadable:
      return "it could not be read or loaded, the worker's log says why; once it can be, suspend and resume the job to "
             "continue from it";
  }
  return "its file is damaged (length, format or checksum are wrong); check the disk that it is on";
}

// "the state of step 1,200 was not used: it could not be read or loaded, ..."
inline std::string sentence(const UnusedState& unused) {
  return "the state of step " + grouped(static_cast<double>(unused.step)) + " was not used: " + advice_of(unused.why);
}

}  // namespace tidepool::core
