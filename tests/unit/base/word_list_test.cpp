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

TEST_CASE("the last word of a series stands behind an and") {
  const std::vector<std::string> words{"job-1", "job-2", "job-3"};
  CHECK(word_series(std::vector<std::string>{}).empty());
  CHECK(word_series(std::vector{words[0]}) == "job-1");
  CHECK(word_series(std::vector{words[0], words[1]}) == "job-1 and job-2");
  CHECK(word_series(words) == "job-1, job-2 and job-3");
}

TEST_CASE("of many entries the first are named and the others counted") {
  const auto more = [](std::size_t count) { return std::to_string(count) + " more"; };
  const std::vector<Format> formats{{"philly"}, {"helios"}, {"pai"}};
  CHECK(first_words(std::vector<std::string>{}, 2, more).empty());
  CHECK(first_words(formats, 3, more, &Format::name) == "philly, helios, pai");
  CHECK(first_words(formats, 2, more, &Format::name) == "philly, helios and 1 more");
  CHECK(first_words(formats, 1, more, &Format::name) == "philly and 2 more");
}

TEST_CASE("numbers are listed as they are written") {
  CHECK(number_list(std::vector<int>{8, -4, 0}) == "8, -4, 0");
}

}  // namespace tidepool
