// A saved state that the workers of a start had found and did not go on from, and why.
#pragma once

#include <cstdint>

namespace tidepool::core {

enum class UnusedWhy {
  kDamaged,      // its length, format or a checksum is wrong, or a part of it cannot be read
  kOtherLayout,  // it is of another program, of another version of it or of other data
  kUnreadable,   // its file could not be opened, or what it holds not be loaded
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
