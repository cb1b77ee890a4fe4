// Why workers that began from an older state, or anew, did not use a saved one that they had found. The worker protocol
// and the journal have the same texts for it.
#pragma once

#include <array>

#include "base/codec/enum_names.hpp"

namespace tidepool {

// In this order the ranks of a job tell each other, by number.
enum class UnusedWhy {
  kDamaged,      // its length, format or a checksum is wrong, or a part of it cannot be read
  kOtherLayout,  // it is of another program, of another version of it or of other data
  kUnreadable,   // its file could not be opened, or what it holds not be loaded
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
