// Small private files (mode 0600) in the agent's state directory, replaced whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tidepool::agent {

// "open the ledger: No such file or directory", from errno.
[[nodiscard]] Error errno_error(const std::string& attempt);

// Readers see the old text or the new one, even after a crash of the machine.
[[nodiscard]] Status replace_file(const std::filesystem::path& path, std::string_view text);

[[nodiscard]] Status write_all(int fd, std::string_view bytes);

// A short name for the folder, the same in every run: distinguishes the agents of one machine.
[[nodiscard]] std::string folder_key(const std::filesystem::path& folder);

// Creates `path` with mode 0700 if it is missing; refuses a folder that belongs to another user or is open to all.
[[nodiscard]] Status make_private_folder(const std::filesystem::path& path);
// The same, and removes everything in it.
[[nodiscard]] Status empty_folder(const std::filesystem::path& path);

}  // namespace tidepool::agent
