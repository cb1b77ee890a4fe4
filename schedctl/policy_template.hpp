// What `schedctl policy new` writes: the smallest policy that does something, and a test that shows it.
#pragma once

#include <string>

namespace tidepool::ctl {

[[nodiscard]] std::string policy_yaml_template(const std::string& name);
[[nodiscard]] std::string policy_lua_template(const std::string& name);
[[nodiscard]] std::string policy_test_template();

}  // namespace tidepool::ctl
