#include <catch2/catch.hpp>

#include "workers/trainer/csv_table.hpp"

namespace tidepool::trainer {
namespace {

std::string error_of(std::string_view text, const std::string& label = "") {
  const auto table = read_csv(text, label);
  return table.ok() ? "" : table.error().message;
}

}  // namespace

TEST_CASE("a header is optional, the label's column is the last or the named one") {
  const auto plain = read_csv("1,10,a\n3,10,b\n", "");
  REQUIRE(plain.ok());
  CHECK(plain->features == 2);
  CHECK(plain->class_names == std::vector<std::string>{"a", "b"});
  CHECK(plain->classes == std::vector<int>{0, 1});
  CHECK(plain->values == std::vector<float>{-1, 0, 1, 0});  // standardised; the constant column is zero
  const auto named = read_csv("kind, x , y\r\nb,1,5\r\na,2,6\r\n", "kind");
  REQUIRE(named.ok());
  CHECK(named->classes == std::vector<int>{1, 0});
  CHECK(named->features == 2);
}

TEST_CASE("what is wrong with a table is said with its line") {
  CHECK(error_of("").find("no rows") != std::string::npos);
  CHECK(error_of("a\nb\n").find("one column") != std::string::npos);
  CHECK(error_of("1,2,a\n1,2\n").find("line 2 has 2 fields") != std::string::npos);
  CHECK(error_of("1,2,a\n1,zwei,b\n").find("line 2: \"zwei\" in column 2 is not a number") != std::string::npos);
  CHECK(error_of("1,nan,a\n2,3,b\n2,nan,b\n").find("not a number") != std::string::npos);
  CHECK(error_of("1,2,a\n3,4,a\n").find("two different classes") != std::string::npos);
  CHECK(error_of("x,y,kind\n1,2,a\n3,4,b\n", "kindd").find("did you mean \"kind\"?") != std::string::npos);
  CHECK(error_of("1,2,a\n3,4,b\n", "kind").find("no header line") != std::string::npos);
}

}  // namespace tidepool::trainer
