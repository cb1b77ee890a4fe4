// IdSet and IdTable beside the standard's containers, whose contents and order they must have after any history.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "base/rising_place.hpp"
#include "base/rng.hpp"

namespace tidepool {
namespace {

// Mostly neighbours, as ids are handed out; now and then one far away.
JobId random_id(Rng& rng) {
  const std::uint64_t far = rng.chance(0.05) ? std::uint64_t{1} << rng.between(10, 63) : 0;
  return JobId(far + rng.below(400));
}

using Table = IdTable<JobId, std::shared_ptr<int>>;
using Map = std::map<JobId, std::shared_ptr<int>>;

bool equal(const Table& table, const Map& map) {
  if (table.size() != map.size() || table.empty() != map.empty()) return false;
  auto expected = map.begin();
  for (const auto& [id, value] : table) {
    if (expected == map.end() || expected->first != id || expected->second != value) return false;
    ++expected;
  }
  for (auto back = table.end(); back != table.begin();) {
    if ((--back)->first != (--expected)->first) return false;
  }
  return expected == map.begin() && (map.empty() || table.last() == map.rbegin()->first);
}

// Where an id leads in both.
template <class Iterator, class Expected>
bool same_place(const Table& table, Iterator found, const Map& map, Expected expected) {
  if (found == table.end() || expected == map.end()) return found == table.end() && expected == map.end();
  return found->first == expected->first;
}

}  // namespace

TEST_CASE("a number's place is its piece's, or that of the first piece behind where it would be") {
  const auto itself = [](std::uint64_t piece) { return piece; };
  CHECK(rising_place(std::vector<std::uint64_t>(), 3, itself) == 0);
  // Without a gap, with gaps, and with numbers so far apart that their distance is more than there are pieces.
  for (const std::vector<std::uint64_t>& pieces :
       {std::vector<std::uint64_t>{4, 5, 6, 7}, std::vector<std::uint64_t>{4, 6, 7, 11, 12},
        std::vector<std::uint64_t>{0, 1, 2, UINT64_MAX - 1, UINT64_MAX}}) {
    for (const std::uint64_t number : std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 1'000}) {
      const auto place = std::lower_bound(pieces.begin(), pieces.end(), number) - pieces.begin();
      CHECK(rising_place(pieces, number, itself) == static_cast<std::size_t>(place));
    }
    CHECK(rising_place(pieces, pieces.back(), itself) == pieces.size() - 1);
  }
}

TEST_CASE("a set of ids holds what a std::set holds, in its order, after any history") {
  Rng rng(1);
  IdSet<JobId> ids;
  std::set<JobId> expected;
  for (int round = 0; round < 20'000; ++round) {
    const JobId id = random_id(rng);
    if (rng.chance(round % 4'000 < 2'000 ? 0.7 : 0.3)) {
      CHECK(ids.insert(id) == expected.insert(id).second);
    } else {
      CHECK(ids.erase(id) == (expected.erase(id) > 0));
    }
    const JobId other = random_id(rng);
    REQUIRE(ids.contains(other) == expected.contains(other));
    REQUIRE(ids.size() == expected.size());
    if (round % 50 == 0)
      REQUIRE(std::vector<JobId>(ids.begin(), ids.end()) == std::vector(expected.begin(), expected.end()));
  }
}

TEST_CASE("sets of the same ids are equal, however they came about") {
  IdSet<JobId> grown{JobId(7), JobId(700), JobId(1)};
  grown.erase(JobId(700));
  CHECK(grown == IdSet<JobId>{JobId(1), JobId(7)});
  grown.clear();
  CHECK(grown == IdSet<JobId>());
  CHECK(grown.begin() == grown.end());
}

TEST_CASE("a set of ids takes in another as it takes in its ids one by one") {
  Rng rng(3);
  for (int round = 0; round < 500; ++round) {
    IdSet<JobId> ids;
    IdSet<JobId> more;
    for (std::uint64_t left = rng.below(40); left > 0; --left) ids.insert(random_id(rng));
    for (std::uint64_t left = rng.below(40); left > 0; --left) more.insert(random_id(rng));
    IdSet<JobId> expected = ids;
    expected.insert(more.begin(), more.end());
    ids.insert(more);
    REQUIRE(ids == expected);
    ids.insert(ids);
    REQUIRE(ids == expected);
  }
}

TEST_CASE("a table holds what a std::map holds, in its order, after any history") {
  Rng rng(2);
  Table table;
  Map expected;
  for (int round = 0; round < 20'000; ++round) {
    const JobId id = random_id(rng);
    const auto value = std::make_shared<int>(round);
    const auto kind = rng.below(6);
    if (kind == 0) {
      CHECK(table.try_emplace(id, value).second == expected.try_emplace(id, value).second);
    } else if (kind == 1) {
      CHECK(table.insert_or_assign(id, value).second == expected.insert_or_assign(id, value).second);
    } else if (kind == 2) {
      table[id] = value;
      expected[id] = value;
    } else {
      CHECK(table.erase(id) == expected.erase(id));
    }
    const JobId other = random_id(rng);
    const auto found = table.find(other);
    REQUIRE((found != table.end()) == expected.contains(other));
    REQUIRE(same_place(table, table.lower_bound(other), expected, expected.lower_bound(other)));
    REQUIRE(same_place(table, table.upper_bound(other), expected, expected.upper_bound(other)));
    if (found != table.end()) REQUIRE((found->first == other && table.at(other) == expected.at(other)));
    if (round % 50 == 0) REQUIRE(equal(table, expected));
  }
}

TEST_CASE("a value of a table stays where it is while others come and go") {
  IdTable<JobId, std::string> table;
  std::string* const kept = &table[JobId(500)];
  *kept = "kept";
  for (std::uint64_t number = 1; number <= 1'000; ++number) table.try_emplace(JobId(number), "other");
  for (std::uint64_t number = 1; number <= 1'000; number += 3) table.erase(JobId(number));
  CHECK(kept == &table.at(JobId(500)));
  CHECK(*kept == "kept");
}

TEST_CASE("a copied table shares nothing with its original, and one that was moved from is empty") {
  Table table;
  for (std::uint64_t number = 1; number < 100; number += 7) table[JobId(number)] = std::make_shared<int>(1);
  const Map expected(table.begin(), table.end());
  Table copy = table;
  table.erase(JobId(1));
  CHECK(equal(copy, expected));
  const Table moved = std::move(copy);
  CHECK(equal(moved, expected));
  CHECK(copy.empty());  // NOLINT(bugprone-use-after-move): what it says
  CHECK(copy.begin() == copy.end());
}

TEST_CASE("what a table holds is destroyed once") {
  const auto value = std::make_shared<int>(1);
  {
    Table table;
    for (std::uint64_t number = 1; number <= 40; ++number) table[JobId(number)] = value;
    CHECK(value.use_count() == 41);
    table.erase(JobId(3));
    CHECK(value.use_count() == 40);
    table = Table();
    CHECK(value.use_count() == 1);
    table[JobId(9)] = value;
    table.clear();
    CHECK(value.use_count() == 1);
  }
  CHECK(value.use_count() == 1);
}

namespace {

using Shared = SharedIdTable<JobId, std::string>;

std::map<JobId, std::string> contents(const Shared& table) {
  return {table.begin(), table.end()};
}

}  // namespace

TEST_CASE("tables that share pages hold each what was written to it, after any history of copies") {
  Rng rng(5);
  std::vector<Shared> tables(1);
  std::vector<std::map<JobId, std::string>> expected(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t which = rng.below(tables.size());
    const JobId id = random_id(rng);
    const std::string value = std::to_string(round);
    const auto kind = rng.below(8);
    if (kind == 0) {
      CHECK(tables[which].try_emplace(id, value).second == expected[which].try_emplace(id, value).second);
    } else if (kind == 1) {
      CHECK(tables[which].insert_or_assign(id, value).second == expected[which].insert_or_assign(id, value).second);
    } else if (kind == 2) {
      tables[which][id] = value;
      expected[which][id] = value;
    } else if (kind == 3 && tables[which].contains(id)) {
      tables[which].edit(id) += "!";
      expected[which][id] += "!";
    } else if (kind == 4 && rng.chance(0.1)) {
      const std::size_t to = tables.size() < 5 ? tables.size() : rng.below(5);
      if (to == tables.size()) {
        tables.emplace_back();
        expected.emplace_back();
      }
      tables[to] = Shared(tables[which]);
      expected[to] = std::map<JobId, std::string>(expected[which]);
    } else {
      CHECK(tables[which].erase(id) == expected[which].erase(id));
    }
    if (round % 100 != 0) continue;
    for (std::size_t i = 0; i < tables.size(); ++i) REQUIRE(contents(tables[i]) == expected[i]);
    const std::size_t other = rng.below(tables.size());
    IdSet<JobId> told;
    Shared::for_each_unshared(tables[which], tables[other], [&](JobId at) { REQUIRE(told.insert(at)); });
    for (const auto& [at, text] : expected[which]) {
      const auto found = expected[other].find(at);
      if (found == expected[other].end() || found->second != text) REQUIRE(told.contains(at));
    }
    for (const auto& [at, text] : expected[other]) {
      if (!expected[which].contains(at)) REQUIRE(told.contains(at));
    }
  }
}

TEST_CASE("a copy of a shared table takes no value along until one of them is written to") {
  Shared table;
  for (std::uint64_t number = 1; number <= 1'000; ++number) table[JobId(number)] = "value";
  const Shared copy = table;
  CHECK(&table.find(JobId(500))->second == &copy.find(JobId(500))->second);
  table.edit(JobId(500)) = "other";
  CHECK(copy.at(JobId(500)) == "value");
  CHECK(&table.find(JobId(900))->second == &copy.find(JobId(900))->second);
  std::size_t told = 0;
  Shared::for_each_unshared(copy, table, [&](JobId) { ++told; });
  CHECK(told <= 16);
}

}  // namespace tidepool
