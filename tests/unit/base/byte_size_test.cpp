#include "base/byte_size.hpp"

#include <catch2/catch.hpp>

namespace tidepool {
namespace {

TEST_CASE("a size is a whole number of MiB, GiB or TiB, within bounds") {
  CHECK(parse_byte_size("1MiB").value() == kMebibyte);
  CHECK(parse_byte_size("64GiB").value() == std::int64_t{64} << 30U);
  CHECK(parse_byte_size("1024TiB").value() == kBytesMax);
  for (const char* wrong : {"", "64", "GiB", "0MiB", "-1GiB", "1.5GiB", "64 GiB", "64gib", "64GB", "64GiBs", "1025TiB",
                            "1048577GiB", "99999999999999999999MiB", "+1GiB"}) {
    INFO(wrong);
    const auto read = parse_byte_size(wrong);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message.find("such as 64GiB") != std::string::npos);
  }
}

TEST_CASE("what was read is written so that it reads back, in the largest unit") {
  for (const char* text : {"1MiB", "1536MiB", "64GiB", "3TiB", "1024TiB"}) {
    CHECK(byte_size_text(parse_byte_size(text).value()) == text);
  }
  CHECK(byte_size_text(parse_byte_size("2048MiB").value()) == "2GiB");
}

TEST_CASE("people read a size with one decimal at most") {
  CHECK(rounded_byte_size(std::int64_t{64} << 30U) == "64GiB");
  CHECK(rounded_byte_size(15'461'882'265) == "14.4GiB");
  CHECK(rounded_byte_size(3 * kMebibyte / 2) == "1.5MiB");
  CHECK(rounded_byte_size(1'000) == "1000 bytes");
}

}  // namespace
}  // namespace tidepool
