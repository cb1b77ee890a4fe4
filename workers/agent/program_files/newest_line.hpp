// The last line of a file that a job's program writes, for an agent that does not trust the program: no link is
// followed, only a plain file is read, and no more of it than a bound.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace tidepool::agent {

// The last line that ends with a newline, of the last `bytes_max` bytes; empty: there is none.
[[nodiscard]] std::string newest_line(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace tidepool::agent
