// What the codec refuses and in which words, on structs of its own.
#include "base/codec/archive.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace tidepool::archive_test {

struct Small {
  int count = 7;
  std::optional<std::int64_t> most;
  double share = 0.5;
  std::vector<std::uint32_t> sizes;
};
struct Other {
  std::string name;
};
struct Third {};
using Pair = std::variant<Small, Other>;
using Any = std::variant<Third, Pair>;

void fields(auto& archive, codec::Like<Small> auto& small) {
  archive.type("small");
  archive.optional("count", small.count, codec::Range{-1, 9});
  archive.if_any("most", small.most, codec::Range{1, 5});
  archive.optional("share", small.share, codec::Between{0, 1});
  archive("sizes", small.sizes, codec::Range{0, UINT32_MAX});
  archive.check(small.sizes.size() != 1, "sizes", "must not be one alone");
}
void fields(auto& archive, codec::Like<Other> auto& other) {
  archive.type("other");
  archive("name", other.name);
}
void fields(auto& archive, codec::Like<Third> auto&) {
  archive.type("third");
}

template <class T = Any>
std::string refusal(const char* text) {
  T value{};
  const Status status = codec::decode(nlohmann::json::parse(text), "", value);
  return status.ok() ? "accepted" : status.error().message;
}

Small small_of(const char* text) {
  Any value;
  REQUIRE(codec::decode(nlohmann::json::parse(text), "", value).ok());
  return std::get<Small>(std::get<Pair>(value));
}

TEST_CASE("a variant of variants goes by the type, and a type that none has is answered with the nearest") {
  CHECK(codec::encode(Any(Pair(Other{"a"}))).dump() == R"({"name":"a","type":"other"})");
  CHECK(codec::encode(Any(Third{})).dump() == R"({"type":"third"})");
  CHECK(refusal(R"({"type":"third"})") == "accepted");
  CHECK(refusal(R"({"type":"otherr","name":"a"})") == R"(/type "otherr" is not known here; did you mean "other"?)");
  CHECK(refusal("{}") == "/type is needed");
  CHECK(refusal("[]") == " must be an object");
  CHECK(refusal<Other>(R"({"type":"small","name":"a"})") == R"(/type must be "other")");
}

TEST_CASE("what may be left out or null is none, 0 or not a number, and is written as null or not at all") {
  for (const char* text :
       {R"({"type":"small","sizes":[]})", R"({"type":"small","sizes":[],"count":null,"most":null,"share":null})"}) {
    const Small read = small_of(text);
    CHECK(read.count == 0);
    CHECK_FALSE(read.most);
    CHECK(std::isnan(read.share));
    CHECK(codec::encode(read).dump() == R"({"count":0,"share":null,"sizes":[],"type":"small"})");
  }
}

TEST_CASE("numbers are refused beyond their ends, of another kind, and where a field is needed or not known") {
  CHECK(small_of(R"({"type":"small","count":-1,"most":5,"share":1,"sizes":[0,4294967295]})").sizes.back() ==
        4294967295U);
  const std::pair<std::string, std::string> bad[] = {
      {R"("count":-2,"sizes":[])", "/count is -2; it must lie between -1 and 9"},
      {R"("count":1.0,"sizes":[])", "/count must be a whole number"},
      {R"("most":0,"sizes":[])", "/most is 0; it must lie between 1 and 5"},
      {R"("share":1.5,"sizes":[])", "/share is 1.5; it must lie between 0.0 and 1.0"},
      {R"("share":"nan","sizes":[])", "/share must be a number"},
      {R"("sizes":[1,4294967296])", "/sizes/1 is 4294967296; it must lie between 0 and 4294967295"},
      {R"("sizes":[1,18446744073709551615])", "/sizes/1 must be a whole number in range"},
      {R"("sizes":[1])", "/sizes must not be one alone"},
      {R"("sizes":{})", "/sizes must be a list"},
      {R"("count":1)", "/sizes is needed"},
      {R"("size":[])", "/sizes is needed"},
      {R"("sizes":[],"siezs":1)", R"(/siezs is not a field here; did you mean "sizes"?)"},
      {R"("sizes":[],"entirely":1)", "/entirely is not a field here"},
      {"\"sizes\":[],\"" + std::string(90'000, 'x') + "\":1", "/" + std::string(40, 'x') + " is not a field here"},
  };
  for (const auto& [rest, words] : bad) {
    CHECK(refusal((R"({"type":"small",)" + rest + "}").c_str()) == words);
  }
}

}  // namespace tidepool::archive_test
