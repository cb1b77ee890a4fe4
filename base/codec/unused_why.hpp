// Why workers that started from an older state, or from scratch, did not use a saved state that they had found. The
// worker protocol and the journal use the same texts.
#pragma once

#include <array>

#include "base/codec/enum_names.hpp"

namespace tidepool {

// Ranks of a job send each other these values by number, in this order.
enum class UnusedWhy {
  kDamaged,      // its length, format or a checksum is wrong, or a part of it cannot be read
  kOtherLayout,  // it belongs to another program, another version of the program or other data
  kUnreadable,   // its file could not be opened, or its contents could not be loaded
};

inline auto names_of(UnusedWhy) {
  using Name = codec::EnumName<UnusedWhy>;
  return std::array{Name{UnusedWhy::kDamaged, "damaged"}, Name{UnusedWhy::kOtherLayout, "other_layout"},
                    Name{UnusedWhy::kUnreadable, "unreadable"}};
}
inline const char* to_text(UnusedWhy why) {
  return codec::enum_name(why).value_or("damaged");
}

}  // namespace tidepool
