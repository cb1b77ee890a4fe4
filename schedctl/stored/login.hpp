// Where `schedctl login` keeps what it was told: one file, mode 0600, of this user.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"

namespace tidepool::ctl {

struct Login {
  std::string url;
  std::string token;
  std::string ca;  // PEM; empty = the system's authorities
};

// $XDG_CONFIG_HOME/tidepool/login.json, or under ~/.config; empty if neither variable is set.
[[nodiscard]] std::string login_file();

// None if there is no such file. Fails if others may read it, or it is not what store_login() writes.
[[nodiscard]] Result<std::optional<Login>> stored_login(const std::string& path);
// Whole or not at all; makes the folder (0700).
[[nodiscard]] Status store_login(const std::string& path, const Login& login);

}  // namespace tidepool::ctl
