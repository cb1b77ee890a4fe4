// Reads the files that a run names. Every worker must see the same bytes, so the order is fixed: the files of all named
// paths, including those in folders at any depth, sorted by path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::trainer {

// All the text, files joined by a newline. Within folders, hidden files and files with NUL bytes are skipped.
[[nodiscard]] Result<std::string> read_data_files(const std::filesystem::path& folder,
                                                  const std::vector<std::string>& paths);

}  // namespace tidepool::trainer
