// SharedMap beside std::map, whose contents and order it must have after any history, and what its copies share.
#include "base/shared_map.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

#include "base/rng.hpp"

namespace tidepool {
namespace {

using Names = SharedMap<std::string, int>;
using PlainNames = std::map<std::string, int>;

bool equal(const Names& shared, const PlainNames& plain) {
  if (shared.size() != plain.size() || shared.empty() != plain.empty()) return false;
  auto expected = plain.begin();
  for (const auto& [key, value] : shared) {
    if (expected == plain.end() || expected->first != key || expected->second != value) return false;
    ++expected;
  }
  return expected == plain.end();
}

std::string random_key(Rng& rng) {
  return "k" + std::to_string(rng.below(300));
}

void change_both(Rng& rng, Names& shared, PlainNames& plain) {
  const std::string key = random_key(rng);
  const int value = static_cast<int>(rng.below(1'000));
  switch (rng.below(6)) {
    case 0: CHECK(shared.emplace(key, value) == plain.emplace(key, value).second); break;
    case 1:
      shared.insert_or_assign(key, value);
      plain.insert_or_assign(key, value);
      break;
    case 2:
      ++shared[key];
      ++plain[key];
      break;
    case 3:
      if (int* known = shared.edit_if_there(key)) *known = value;
      if (plain.contains(key)) plain.at(key) = value;
      break;
    default: CHECK(shared.erase(key) == plain.erase(key));
  }
}

// Entries of the two that lie at one place in memory.
int in_common(const Names& one, const Names& other) {
  int count = 0;
  for (const auto& entry : one) {
    const auto found = other.find(entry.first);
    if (found != other.end() && &*found == &entry) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a shared map holds what a std::map holds, in its order, after any history of copies") {
  Rng rng(11);
  struct Both {
    Names shared;
    PlainNames plain;
  };
  std::vector<Both> copies(3);
  for (int i = 0; i < 20'000; ++i) {
    Both& one = copies[rng.below(copies.size())];
    change_both(rng, one.shared, one.plain);
    if (rng.chance(0.01)) copies[rng.below(copies.size())] = Both(one);
    const std::string key = random_key(rng);
    const auto found = one.shared.find(key);
    REQUIRE((found != one.shared.end()) == one.plain.contains(key));
    REQUIRE(one.shared.contains(key) == one.plain.contains(key));
    if (found != one.shared.end()) REQUIRE(found->second == one.plain.at(key));
    if (i % 50 != 0) continue;
    for (const Both& each : copies) REQUIRE(equal(each.shared, each.plain));
    REQUIRE((copies[0].shared == copies[1].shared) == (copies[0].plain == copies[1].plain));
  }
}

TEST_CASE("a copy of a shared map takes no entry along until one of them is written to, and then one page's") {
  Names map;
  for (int i = 0; i < 1'000; ++i) map.emplace("k" + std::to_string(i), i);
  Names copy = map;
  CHECK(in_common(map, copy) == 1'000);
  copy.edit("k500") = 7;
  CHECK(map.at("k500") == 500);
  CHECK(copy.at("k500") == 7);
  CHECK(in_common(map, copy) >= 1'000 - 32);
  CHECK(in_common(map, copy) < 1'000);
}

TEST_CASE("all values of a shared map can be changed, and entries that fit a rule leave it") {
  Names map;
  for (int i = 0; i < 100; ++i) map.emplace("k" + std::to_string(i), i);
  const Names before = map;
  map.edit_all([](const std::string& key, int& value) { value = key == "k0" ? -1 : value * 2; });
  CHECK(map.at("k0") == -1);
  CHECK(map.at("k99") == 198);
  map.erase_if([](const auto& entry) { return entry.second >= 0; });
  CHECK(map == Names{{"k0", -1}});
  CHECK(before.size() == 100);
  CHECK(before.at("k99") == 99);
}

TEST_CASE("a shared map that was moved from is empty") {
  Names map{{"a", 1}, {"b", 2}};
  const Names taken = std::move(map);
  CHECK(taken.size() == 2);
  CHECK(map.empty());  // NOLINT(bugprone-use-after-move)
  CHECK(map.begin() == map.end());
}

}  // namespace tidepool
