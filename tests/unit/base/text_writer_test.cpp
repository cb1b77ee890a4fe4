// Text that is written at once has the bytes of the tree, on structs of its own.
#include "base/codec/text_writer.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/ids.hpp"

namespace tidepool::text_writer_test {

enum class Size { kSmall, kLarge };

inline auto names_of(Size) {
  using Name = codec::EnumName<Size>;
  return std::array{Name{Size::kSmall, "small"}, Name{Size::kLarge, "large"}};
}

struct Measured {
  int count = 7;
  std::optional<std::int64_t> most;
  std::optional<double> mean;
  double share = 0.5;
  std::vector<WorkerId> workers;
};

void fields(auto& archive, codec::Like<Measured> auto& measured) {
  archive.type("measured");
  archive.constant("version", 3);
  archive("count", measured.count, codec::Range{0, 9});
  archive.if_any("most", measured.most, codec::Range{INT64_MIN, INT64_MAX});
  archive.optional("mean", measured.mean, codec::Between{-1e9, 1e9});
  archive.optional("share", measured.share, codec::Between{0, 1});
  archive("workers", measured.workers, codec::Given{});
  archive.check(measured.count > 0, "count", "must not be none");
}

template <class T>
std::string text_of(const T& value) {
  std::string text;
  codec::append(text, value);
  return text;
}

TEST_CASE("fields that may be left out are written as text as they are in the tree") {
  const Measured none{.share = std::nan("")};
  CHECK(text_of(none) == R"({"count":7,"mean":null,"share":null,"type":"measured","version":3,"workers":[]})");
  const Measured some{0, INT64_MIN, -0.0, 1, {WorkerId(1), WorkerId(UINT64_MAX)}};
  for (const Measured& measured : {none, some}) CHECK(text_of(measured) == codec::encode(measured).dump());
}

TEST_CASE("a form that only bounds what is read writes as is written without it, in text and tree") {
  const Measured no_worker{.workers = {WorkerId(2), WorkerId()}};
  const std::string text = text_of(no_worker);
  CHECK_THAT(text, Catch::EndsWith(R"("workers":["w-2",null]})"));
  CHECK(text == codec::encode(no_worker).dump());
  Measured read;
  const Status status = codec::decode(nlohmann::json::parse(text), "", read);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message == "/workers/1 is needed");
}

TEST_CASE("an enum's value is its name, and null if it has none, which is refused when it is read") {
  const std::map<std::string, Size> sizes{{"a", Size::kLarge}, {"b", static_cast<Size>(7)}, {"c", Size::kSmall}};
  const std::string text = text_of(sizes);
  CHECK(text == R"({"a":"large","b":null,"c":"small"})");
  CHECK(text == codec::encode(sizes).dump());
  Size read{};
  const Status status = codec::decode(nlohmann::json(), "/size", read);
  REQUIRE_FALSE(status.ok());
  CHECK_THAT(status.error().message, Catch::StartsWith("/size must be one of "));
}

}  // namespace tidepool::text_writer_test
