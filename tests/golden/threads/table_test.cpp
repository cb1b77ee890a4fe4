// The table in docs/threads.md names these scenarios, all of them and no others.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/file_text.hpp"

namespace tidepool::test {
namespace {

constexpr const char* kTableTest =
    "each scenario of a thread has its row in docs/threads.md, and each row its scenario";

std::set<std::string> scenarios() {
  std::set<std::string> names;
  for (const Catch::TestCase& test : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
    if (test.name != kTableTest) names.insert(test.name);
  }
  return names;
}

// "| one | two |": the cells, without the spaces around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    if (first != std::string::npos) cells.push_back(cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

// Rows of four cells: the threads, what happened there, the scenario, what Tidepool does.
std::set<std::string> rows() {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  std::istringstream text(text_of_file(std::filesystem::path(source == nullptr ? "." : source) / "docs/threads.md"));
  std::set<std::string> names;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("| ") || line.starts_with("| thread ")) continue;
    if (const auto cells = cells_of(line); cells.size() == 4) names.insert(cells[0] + ": " + cells[2]);
  }
  return names;
}

}  // namespace

TEST_CASE(kTableTest) {
  const std::set<std::string> played = scenarios();
  const std::set<std::string> told = rows();
  REQUIRE(played.size() > 40);
  for (const std::string& name : played) {
    INFO("no row for " << name);
    CHECK(told.contains(name));
  }
  for (const std::string& name : told) {
    INFO("no scenario " << name);
    CHECK(played.contains(name));
  }
}

}  // namespace tidepool::test
