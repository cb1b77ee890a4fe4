#include "base/word_list.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <string_view>
#include <vector>

namespace tidepool {
namespace {

struct Format {
  std::string_view name;
  int version = 0;
};

}  // namespace

TEST_CASE("words stand in a row with commas between and none at the ends") {
  CHECK(word_list(std::vector<std::string>{}).empty());
  CHECK(word_list(std::vector<std::string>{"order"}) == "order");
  CHECK(word_list(std::vector<std::string>{"size", "admit", "order"}) == "size, admit, order");
  CHECK(word_list(std::vector<std::string>{"", "b", ""}) == ", b, ");  // an empty word has its place like any other
}

TEST_CASE("a list names the part of each entry that it is told to") {
  CHECK(word_list(std::array{Format{"philly"}, Format{"helios"}}, &Format::name) == "philly, helios");
  CHECK(word_list(std::map<std::string, int>{{"b", 1}, {"a", 2}}, &std::map<std::string, int>::value_type::first) ==
        "a, b");
}

TEST_CASE("numbers are listed as they are written") {
  CHECK(number_list(std::vector<int>{8, -4, 0}) == "8, -4, 0");
}

}  // namespace tidepool
