#include "core/decide/pool_division.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <limits>

namespace tidepool::core {
namespace {

// Tenants directly under the pool, whose planners could use so many slots each.
class Pool {
 public:
  explicit Pool(int slots) : slots_(slots) {}

  const TenantLeaf& tenant(int guarantee, int could_use) {
    TenantNeeds::Sums& needs = needs_.emplace_back();
    needs.most = 10;  // by what their jobs may have; that a gang does not fit is known to the planner alone
    needs.steps = {{1, 1}};
    could_use_.push_back(could_use);
    TenantLeaf& leaf = leaves_.emplace_back();
    leaf.node = nodes_.size();
    leaf.needs = &needs;
    nodes_.push_back({.guarantee = guarantee});
    with_jobs_.push_back(&leaf);
    return leaf;
  }

  [[nodiscard]] Status divide() {
    PoolDivision division({.nodes = nodes_, .leaves = with_jobs_, .slots = slots_},
                          [this](TenantLeaf& leaf, std::optional<int> most) { return ask(leaf, most); });
    return division.divide_slots();
  }

  int asked_most = std::numeric_limits<int>::max();  // further questions fail
  int asked = 0;

 private:
  Status ask(TenantLeaf& leaf, std::optional<int> most) {
    if (++asked > asked_most) return invalid_argument("the planner fails");
    const int used = std::min(could_use_[leaf.node], most.value_or(std::numeric_limits<int>::max()));
    leaf.answers.push_back({.most = most, .used = used});
    leaf.newest_answer = most;
    return ok_status();
  }

  int slots_;
  std::vector<TenantNode> nodes_;
  std::deque<TenantNeeds::Sums> needs_;
  std::deque<TenantLeaf> leaves_;
  std::vector<int> could_use_;
  std::vector<TenantLeaf*> with_jobs_;
};

}  // namespace

TEST_CASE("what a tenant cannot use of its guarantee goes to the other, which is entitled to it") {
  Pool pool(8);
  const TenantLeaf& modest = pool.tenant(4, 2);
  const TenantLeaf& eager = pool.tenant(4, 10);
  REQUIRE(pool.divide().ok());
  CHECK(modest.part.used == 2);
  CHECK(eager.part.used == 6);
  CHECK(eager.part.share == 6);
  CHECK_FALSE(eager.part.satisfied);
}

TEST_CASE("tenants that could both use more have what they are guaranteed") {
  Pool pool(8);
  const TenantLeaf& small = pool.tenant(2, 10);
  const TenantLeaf& large = pool.tenant(6, 10);
  REQUIRE(pool.divide().ok());
  CHECK(small.part.used == 2);
  CHECK(large.part.used == 6);
}

TEST_CASE("a planner is asked once for each bound, and its failure ends the division") {
  Pool pool(8);
  const TenantLeaf& leaf = pool.tenant(4, 10);
  REQUIRE(pool.divide().ok());
  CHECK(pool.asked == static_cast<int>(leaf.answers.size()));
  for (const TenantLeaf::Answer& answer : leaf.answers) CHECK(leaf.answer(answer.most) == &answer);

  Pool failing(8);
  static_cast<void>(failing.tenant(4, 10));
  failing.asked_most = 0;
  CHECK_FALSE(failing.divide().ok());
}

}  // namespace tidepool::core
