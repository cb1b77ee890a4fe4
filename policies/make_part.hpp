// What a row of a policy table names: how to make one stage or policy, seen through its interface.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/decide/policy.hpp"

namespace tidepool::policies {

template <class Interface, class Entry>
std::unique_ptr<const Interface> make_part() {
  return std::make_unique<const Entry>();
}

// A rule for single jobs as an engine runs it.
template <class Rule, core::LineRule kLine>
std::unique_ptr<const core::Policy> make_rule(std::string_view name) {
  return std::make_unique<const core::RulePolicy>(std::string(name), std::make_unique<const Rule>(), kLine);
}

}  // namespace tidepool::policies
