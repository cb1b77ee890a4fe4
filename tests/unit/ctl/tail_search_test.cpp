#include "schedctl/logs/tail_search.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace tidepool::ctl {
namespace {

// The lines that a search in pages of this size finds at the end of the text.
std::string tail_of(const std::string& text, std::int64_t lines, std::size_t page_size) {
  TailSearch search(lines);
  for (std::size_t end = text.size();;) {
    const std::size_t begin = end > page_size ? end - page_size : 0;
    if (const auto back = search.take(std::string_view(text).substr(begin, end - begin))) {
      return text.substr(end - *back);
    }
    if (begin == 0) return text;
    end = begin;
  }
}

TEST_CASE("the newest lines are found in pages of every size") {
  const std::string text = "one\n\nthree is longer than a page\nfour\n";
  const std::vector<std::string> expected = {
      "", "four\n", "three is longer than a page\nfour\n", "\nthree is longer than a page\nfour\n", text, text};
  for (std::size_t page = 1; page <= text.size() + 1; ++page) {
    for (std::size_t lines = 0; lines < expected.size(); ++lines) {
      CAPTURE(page, lines);
      CHECK(tail_of(text, static_cast<std::int64_t>(lines), page) == expected[lines]);
    }
  }
}

TEST_CASE("a last line without its end counts as a line") {
  CHECK(tail_of("one\ntw", 1, 2) == "tw");
  CHECK(tail_of("one\ntw", 2, 2) == "one\ntw");
  CHECK(tail_of("", 3, 2).empty());
}

}  // namespace
}  // namespace tidepool::ctl
