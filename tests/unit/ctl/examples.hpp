// The committed samples of /v1 resources, so that the tables are tested with the shapes the daemon sends.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace tidepool::ctl {

inline std::string source_text(const std::string& path) {
  const char* root = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(root != nullptr);
  std::ifstream file(std::string(root) + "/" + path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline nlohmann::json example(const std::string& name) {
  return nlohmann::json::parse(source_text("api/examples/" + name));
}

// The longest line, in columns.
inline std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::size_t column = 0;
  for (const char c : text) {
    if (c == '\n') {
      column = 0;
    } else if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) {
      widest = std::max(widest, ++column);
    }
  }
  return widest;
}

}  // namespace tidepool::ctl
