// Decision logs that are read like prose and compared byte for byte. TIDEPOOL_REWRITE=1 writes the logs
// anew; the difference is then reviewed like any other change.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "tests/golden/scenario.hpp"

namespace tidepool::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDivider = "----\n";

std::string contents_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> golden_files() {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(source == nullptr ? "." : source) / "tests" / "golden")) {
    if (entry.path().extension() == ".golden") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("Every golden scenario is decided as it is written down") {
  const bool rewrite = std::getenv("TIDEPOOL_REWRITE") != nullptr;
  REQUIRE(golden_files().size() >= 6);
  for (const auto& file : golden_files()) {
    const std::string text = contents_of(file);
    const auto divider = text.find(kDivider);
    const std::string commands = text.substr(0, divider);
    const auto log = run_scenario(commands);
    INFO(file.filename().string());
    INFO((log.ok() ? std::string() : log.error().message));
    REQUIRE(log.ok());
    if (rewrite) {
      std::ofstream(file, std::ios::binary) << commands << kDivider << *log;
      continue;
    }
    INFO("after a wanted change, run this test with TIDEPOOL_REWRITE=1 and review the difference");
    REQUIRE(divider != std::string::npos);
    CHECK(text.substr(divider + std::string(kDivider).size()) == *log);
  }
}

TEST_CASE("A scenario with an unknown word names its line") {
  const auto log = run_scenario("node local 2\nconquer job-1\n");
  REQUIRE_FALSE(log.ok());
  CHECK(log.error().message == "line 2: \"conquer\" is not a command");
}

}  // namespace
}  // namespace tidepool::test
