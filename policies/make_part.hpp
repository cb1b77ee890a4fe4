// What a row of a policy table names: how to make one stage or policy, seen through its interface.
#pragma once

#include <memory>

namespace tidepool::policies {

template <class Interface, class Entry>
std::unique_ptr<const Interface> make_part() {
  return std::make_unique<const Entry>();
}

}  // namespace tidepool::policies
