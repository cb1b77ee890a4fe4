#include "base/utf8.hpp"

#include <catch2/catch.hpp>

namespace tidepool {

TEST_CASE("a text is cut between characters") {
  const std::string text = "a\xc3\xa9\xf0\x9f\x8c\x8a";  // of one, two and four bytes
  CHECK(cut_to(text, 100) == text);
  CHECK(cut_to(text, text.size()) == text);
  for (const auto& [bytes, whole] : {std::pair{6U, 3U}, std::pair{4U, 3U}, std::pair{3U, 3U}, std::pair{2U, 1U},
                                     std::pair{1U, 1U}, std::pair{0U, 0U}}) {
    CHECK(cut_to(text, bytes) == text.substr(0, whole));
  }
}

TEST_CASE("a text that is shortened says so, and stays within its length") {
  CHECK(shortened_to("ended", 5) == "ended");
  CHECK(shortened_to("has ended", 8) == "has e…");
  CHECK(shortened_to("h\xc3\xa9las", 5) == "h…");  // not a part of a character
  CHECK(shortened_to("ended", 3) == "…");
}

}  // namespace tidepool
