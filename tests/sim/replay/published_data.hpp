// Where the published measurements lie: TIDEPOOL_DATA, or shared/data beside the checkout. They are no part of the
// project; a test case that needs them is skipped without them (tests/support/skips.hpp).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "studies/replay/measured_application.hpp"

namespace tidepool::test {

// `told`: where it says that the data is missing.
inline std::optional<std::filesystem::path> published_data(const std::string& folder, std::FILE* told = stdout) {
  std::filesystem::path data;
  if (const char* given = std::getenv("TIDEPOOL_DATA")) {
    data = given;
  } else if (const char* source = std::getenv("TIDEPOOL_SOURCE_DIR")) {
    data = std::filesystem::path(source) / ".." / "shared" / "data";
  }
  if (std::filesystem::is_directory(data / folder)) return data / folder;
  std::fprintf(told, "skipped: there is no %s; set TIDEPOOL_DATA to the folder that holds %s\n",
               (data / folder).lexically_normal().c_str(), folder.c_str());
  return std::nullopt;
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::map<std::string, sim::ApplicationFiles> read_profiles(const std::filesystem::path& folder) {
  std::map<std::string, sim::ApplicationFiles> profiles;
  for (const auto& application : std::filesystem::directory_iterator(folder)) {
    for (const auto& file : std::filesystem::directory_iterator(application)) {
      profiles[application.path().filename()][file.path().filename()] = read_file(file.path());
    }
  }
  return profiles;
}

}  // namespace tidepool::test
