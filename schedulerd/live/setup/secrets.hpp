// Tokens and their hashes. A secret is stored only as its SHA-256, compared in constant time, and
// never written to a log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tidepool::live {

// 2 * bytes lower-case hexadecimal digits from the system's random source.
[[nodiscard]] std::string random_hex(std::size_t bytes);

// Sixty-four lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view text);

// Takes the same time wherever the texts differ; texts of different lengths are never equal.
[[nodiscard]] bool equal_in_constant_time(std::string_view left, std::string_view right);

// A bearer token as a client sends it: tp_<id>_<secret>.
struct TokenText {
  std::string id;
  std::string secret;
  [[nodiscard]] std::string text() const { return "tp_" + id + "_" + secret; }
};
[[nodiscard]] TokenText new_token();
// None: the text does not have that form.
[[nodiscard]] std::optional<TokenText> parse_token(std::string_view text);

// Reads a file that only its owner may read; the error says how to correct its mode.
[[nodiscard]] Result<std::string> read_secret_file(const std::string& path);
// Writes the file completely or not at all, mode 0600.
[[nodiscard]] Status write_secret_file(const std::string& path, std::string_view text);

}  // namespace tidepool::live
