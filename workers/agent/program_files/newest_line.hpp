// Reads the last lines of a file that a job's program writes. The agent does not trust the program: no link is
// followed, only a plain file is read, and at most a fixed number of bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace tidepool::agent {

// The lines that end with a newline in the last `bytes_max` bytes, without the last newline; empty: there is none. A
// longer line is cut.
[[nodiscard]] std::string whole_lines(const std::filesystem::path& path, std::size_t bytes_max);
// Removes the last line from `lines` and returns it.
[[nodiscard]] std::string_view take_last_line(std::string_view& lines);
// The last line of whole_lines().
[[nodiscard]] std::string newest_line(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace tidepool::agent
