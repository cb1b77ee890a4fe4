// A saved state that the workers of a start had found and did not go on from, and why.
#pragma once

#include <cstdint>

namespace tidepool::core {

enum class UnusedWhy {
  kDamaged,      // a checksum or its length is wrong
  kOtherLayout,  // it is of another program or of other data
  kUnreadable,   // its file could not be opened
};

inline const char* to_text(UnusedWhy why) {
  switch (why) {
    case UnusedWhy::kDamaged: return "damaged";
    case UnusedWhy::kOtherLayout: return "other_layout";
    case UnusedWhy::kUnreadable: return "unreadable";
  }
  return "damaged";
}

struct UnusedState {
  std::int64_t step = 0;
  UnusedWhy why = UnusedWhy::kDamaged;
};

}  // namespace tidepool::core
