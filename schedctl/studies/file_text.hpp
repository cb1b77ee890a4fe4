// Whole files as texts, for commands that work offline. What ends in .gz, or is compressed without saying so, is
// unpacked on the way. Every failure ends the command with a sentence (failure.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tidepool::ctl {

inline constexpr std::size_t kFileBytesMax = std::size_t{512} << 20U;  // unpacked

// "-" is standard input.
[[nodiscard]] std::string read_text_file(const std::string& path);

// Fails if a file cannot be written there, before work is done for it; an empty path and "-" can.
void require_writable(const std::string& path);

// Fails if two of the files to be written are one, or a run reads what it would write: both would be lost. Paths that
// are empty or "-", and what is no regular file, such as /dev/null, may be named as often as wanted.
void require_apart(const std::vector<std::string>& written, const std::vector<std::string>& read);

// Replaces what is there. "-" is standard output.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace tidepool::ctl
