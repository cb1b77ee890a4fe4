// The last lines of a file that a job's program writes, for an agent that does not trust the program: no link is
// followed, only a plain file is read, and no more of it than a bound.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace tidepool::agent {

// The lines that end with a newline, of the last `bytes_max` bytes, without the last newline; empty: there is none.
// A line that is longer than that is cut.
[[nodiscard]] std::string whole_lines(const std::filesystem::path& path, std::size_t bytes_max);
// Takes the last of these off.
[[nodiscard]] std::string_view take_last_line(std::string_view& lines);
// The last of them.
[[nodiscard]] std::string newest_line(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace tidepool::agent
