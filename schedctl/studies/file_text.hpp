// Whole files as texts, for commands that work offline. What ends in .gz, or is compressed without saying so, is
// unpacked on the way. Every failure ends the command with a sentence (failure.hpp).
#pragma once

#include <cstddef>
#include <string>

namespace tidepool::ctl {

inline constexpr std::size_t kFileBytesMax = std::size_t{512} << 20U;  // unpacked

// "-" is standard input.
[[nodiscard]] std::string read_text_file(const std::string& path);

// Fails if a file cannot be written there, before work is done for it; an empty path and "-" can.
void require_writable(const std::string& path);

// Replaces what is there. "-" is standard output.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace tidepool::ctl
