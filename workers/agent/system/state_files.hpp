// Small private files (mode 0600) of the agent's state directory, replaced whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tidepool::agent {

// "open the ledger: No such file or directory", from errno.
[[nodiscard]] Error errno_error(const std::string& attempt);

// Readers see the old text or the new one, also after a crash of the machine.
[[nodiscard]] Status replace_file(const std::filesystem::path& path, std::string_view text);

[[nodiscard]] Status write_all(int fd, std::string_view bytes);

// A short name for the folder, the same in every run: tells agents of one machine apart.
[[nodiscard]] std::string folder_key(const std::filesystem::path& folder);

// Creates `path` with mode 0700 where it is missing; refuses what belongs to another user or is open to all.
[[nodiscard]] Status make_private_folder(const std::filesystem::path& path);
// The same, and nothing is left in it.
[[nodiscard]] Status empty_folder(const std::filesystem::path& path);

}  // namespace tidepool::agent
