// What the daemon makes of a host's answers, with regions written by hand: nothing in them is believed.
#include "policies/host/answers.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/words/sentence.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/host/facts_image.hpp"
#include "policies/host/file_policy.hpp"
#include "tests/support/answer_region.hpp"
#include "tests/support/policy_views.hpp"

namespace tidepool::policies::host {
namespace {

using test::waiting_jobs;
using Region = test::AnswerRegion;

Answers wishing(const std::vector<int>& sizes) {
  Answers answers;
  answers.sizes = sizes;
  return answers;
}

// With what the file leaves out from the policy that decides where no file does.
cluster::Allocation allocated(const cluster::View& view, const Answers& answers) {
  core::StepBudget budget(1'000'000);
  return allocate(view, answers, standard_for(view, answers, *built_in_fallback(), budget));
}

std::vector<int> granted(const cluster::View& view, const Answers& answers) {
  const cluster::Allocation allocation = allocated(view, answers);
  REQUIRE(check_allocation(view, allocation).ok());
  std::vector<int> sizes;
  for (const auto& grant : allocation.grants) sizes.push_back(grant.size);
  return sizes;
}

}  // namespace

TEST_CASE("a region shorter than the view is a bad reply") {
  std::vector<std::byte> region(10);
  const Judged judged = read_answers(waiting_jobs(2, 1), region);
  CHECK(std::get<PolicyFault>(judged).code == "policy.bad_reply");
}

TEST_CASE("an unknown fault's name is a bad reply, and unprintable words are shown as such") {
  AnswersHeader header{};
  std::memcpy(header.code, "policy.made_up", 15);
  CHECK(read_fault({}, header).code == "policy.bad_reply");
  std::memcpy(header.code, "policy.runtime_error", 21);
  std::memset(header.message, '\x1b', sizeof header.message);  // not even ended by a 0
  header.row = 1'000;
  const PolicyFault fault = read_fault({}, header);
  CHECK(fault.code == "policy.runtime_error");
  CHECK(fault.message == std::string(sizeof header.message, '?'));
  CHECK_FALSE(fault.job);
}

TEST_CASE("each tenant is answered for: a number that is rounded down, or none, which is NaN") {
  cluster::View view = waiting_jobs(1, 1);
  view.tenants.resize(3);
  for (std::size_t i = 0; i < 3; ++i) view.tenants[i].name = std::string("t") + std::to_string(i);
  const auto answered = [&](double second) {
    Region region(1, 3);
    region.put(region.layout().share, 2.75);
    region.put(region.layout().share + 8, second);
    region.put(region.layout().share + 16, std::nan(""));
    region.hooks(kShare);
    return read_answers(view, region.bytes());
  };
  const auto fault = [&](double second) {
    const Judged judged = answered(second);
    REQUIRE(std::holds_alternative<PolicyFault>(judged));
    CHECK(std::get<PolicyFault>(judged).hook == "share");
    return std::string(std::get<PolicyFault>(judged).code);
  };
  CHECK(std::get<Answers>(answered(kClaimMax)).claims == std::vector<std::optional<int>>{2, kClaimMax, std::nullopt});
  CHECK(fault(kUnset) == "policy.missing_answer");
  for (const double wrong : {-1.0, kClaimMax + 1.0, std::numeric_limits<double>::infinity()}) {
    CHECK(fault(wrong) == "policy.invalid_number");
  }
  CHECK(std::get<PolicyFault>(answered(-1)).message ==
        "what tenant t1 should have beyond its guarantee is a number from 0 to 1000000000, not -1");
}

TEST_CASE("each pool is answered for: a whole number of nodes within its bounds, or none, which is NaN") {
  cluster::View view = waiting_jobs(1, 1);
  for (const char* name : {"gpu", "spot"}) {
    cluster::PoolRow& pool = view.pools.emplace_back();
    pool.name = name;
    pool.min = 1;
    pool.max = 4;
  }
  const auto answered = [&](double second, const WhyRecord& why) {
    Region region(1, 0, 2);
    region.put(region.layout().provision, std::nan(""));
    region.put(region.layout().provision + 8, second);
    region.put(region.layout().why_pool + sizeof(WhyRecord), why);
    region.put(offsetof(AnswersHeader, why_set), std::uint32_t{1});
    region.hooks(kProvision);
    return read_answers(view, region.bytes());
  };
  const auto fault = [&](double second, const WhyRecord& why) {
    const Judged judged = answered(second, why);
    REQUIRE(std::holds_alternative<PolicyFault>(judged));
    CHECK(std::get<PolicyFault>(judged).hook == "provision");
    CHECK_FALSE(std::get<PolicyFault>(judged).job);
    return std::string(std::get<PolicyFault>(judged).code);
  };
  WhyRecord why{};
  std::memcpy(why.code, "Spare", 6);
  for (const int nodes : {1, 4}) {
    const auto answers = std::get<Answers>(answered(nodes, why));
    CHECK(answers.nodes == std::vector<std::optional<int>>{std::nullopt, nodes});
    CHECK(answers.why_nodes.at(0).code.empty());
    CHECK(answers.why_nodes.at(1).code == "Spare");
  }
  CHECK(fault(kUnset, why) == "policy.missing_answer");
  for (const double wrong : {-1.0, 0.0, 5.0, 1.5}) CHECK(fault(wrong, why) == "policy.invalid_nodes");
  CHECK(fault(std::numeric_limits<double>::infinity(), why) == "policy.invalid_number");
  CHECK(std::get<PolicyFault>(answered(5, why)).message ==
        "5 is not a number of nodes that pool spot may have: a whole one from 1 to 4");
  std::memcpy(why.code, "Sp re", 6);
  CHECK(fault(2, why) == "policy.invalid_reason");
}

TEST_CASE("a count of numbers beyond the record is no reason") {
  Region region(1);
  WhyRecord why{};
  std::memcpy(why.code, "Fine", 5);
  why.count = 1'000'000;
  region.put(region.layout().why, why);
  region.put(offsetof(AnswersHeader, why_set), std::uint32_t{1});
  const Judged judged = read_answers(waiting_jobs(1, 1), region.bytes());
  CHECK(std::get<PolicyFault>(judged).code == "policy.invalid_reason");
  CHECK(std::get<PolicyFault>(judged).message == "Fine has 1000000 numbers; at most 8 are kept");
}

TEST_CASE("a reason whose numbers share a name is no reason: they could not be told apart") {
  Region region(1);
  WhyRecord why{};
  std::memcpy(why.code, "Fine", 5);
  why.count = 2;
  for (std::size_t i : {0U, 1U}) {
    std::memcpy(why.numbers[i].name, "share", 6);
    why.numbers[i].value = double(i);
  }
  region.put(region.layout().why, why);
  region.put(offsetof(AnswersHeader, why_set), std::uint32_t{1});
  const Judged judged = read_answers(waiting_jobs(1, 1), region.bytes());
  CHECK(std::get<PolicyFault>(judged).message == "Fine has two numbers called share");
}

TEST_CASE("wishes beyond the cluster are served by rank, and shrink before they wait") {
  const cluster::View view = waiting_jobs(3, 1);  // eight slots
  CHECK(granted(view, wishing({4, 4, 4})) == std::vector<int>{4, 4, 0});
  Answers answers = wishing({6, 6, 6});
  answers.rank = {2, 0, 1};
  CHECK(granted(view, answers) == std::vector<int>{0, 6, 2});
  CHECK(allocated(view, answers).order == std::vector<std::size_t>{1, 2, 0});
}

TEST_CASE("without a size hook jobs get the sizes of the default policy, with its reasons") {
  const cluster::View view = waiting_jobs(3, 1);
  core::StepBudget budget(1'000'000);
  const cluster::Allocation standard = built_in_fallback()->allocate(view, budget);
  Answers answers;
  answers.rank = {0, 0, -1};
  const cluster::Allocation allocation = allocated(view, answers);
  CHECK(allocation.order == std::vector<std::size_t>{2, 0, 1});
  for (std::size_t row = 0; row < 3; ++row) {
    CHECK(allocation.grants[row].size == standard.grants[row].size);
    CHECK(allocation.grants[row].reason == standard.grants[row].reason);
    CHECK(allocation.grants[row].score == standard.grants[row].score);
  }
}

TEST_CASE("without an order hook the default policy's order serves the sizes that the file wishes") {
  cluster::View view = waiting_jobs(3, 1);
  view.jobs[2].weight = 16;  // the job that the default policy gives most
  core::StepBudget budget(1'000'000);
  const std::vector<std::size_t> order = built_in_fallback()->allocate(view, budget).order;
  REQUIRE(order.front() == 2);
  CHECK(allocated(view, wishing({8, 8, 8})).order == order);
  CHECK(granted(view, wishing({8, 8, 8})) == std::vector<int>{0, 0, 8});
}

TEST_CASE("a job that is not admitted gets nothing, and the default policy shares its slots among the others") {
  const cluster::View view = waiting_jobs(2, 1);
  Answers answers;
  answers.admitted = {false, true};
  CHECK(granted(view, answers) == std::vector<int>{0, 8});
}

TEST_CASE("what the engine will not change keeps its size, whatever the policy wishes") {
  cluster::View view = waiting_jobs(3, 1);
  view.jobs[0].placement = {{0, 4}};
  view.jobs[0].resize_blocked = true;
  view.jobs[1].placement = {{0, 3}};
  view.jobs[1].preemptible = false;
  view.jobs[1].size_min = 2;
  view.jobs[2].pinned = 5;
  Answers answers = wishing({0, 0, 8});
  answers.rank = {2, 1, 0};
  CHECK(granted(view, answers) == std::vector<int>{4, 2, 2});
  view.jobs[0].resize_blocked = false;
  CHECK(granted(view, answers) == std::vector<int>{0, 2, 5});
}

TEST_CASE("a job that keeps its size without a word of the file is told what keeps it") {
  cluster::View view = waiting_jobs(2, 1);
  view.jobs[0].placement = {{0, 4}};
  view.jobs[1].placement = {{0, 4}};
  const auto told = [&](Answers answers) {
    answers.rank = {1, 0};
    return core::sentence(allocated(view, answers).grants[0].reason);
  };
  CHECK(told(wishing({4, 4})) == "keeps 4 workers: its policy gives it this size");
  CHECK(told(wishing({8, 4})) == "would take 4 slots more; none is free");
  Answers worded = wishing({8, 4});
  worded.why = {{"AtMax", {}}, {}};
  CHECK(told(worded) == "keeps 4 workers: it may not have more");
  view.jobs[0].resize_blocked = true;
  CHECK(told(wishing({2, 4})) == "keeps 4 workers: its size may not change yet");
  view.jobs[0].resize_blocked = false;
  view.jobs[0].preemptible = false;
  view.jobs[0].size_min = 4;
  CHECK(told(wishing({0, 4})) == "keeps 4 workers: it may not have fewer");
}

TEST_CASE("a job without slots is told how many it needs to start, not how many its policy gives it") {
  cluster::View view = waiting_jobs(2, 1);
  view.jobs[1].size_min = 2;
  const cluster::Allocation allocation = allocated(view, wishing({7, 6}));
  REQUIRE(allocation.grants[1].size == 0);
  CHECK(core::sentence(allocation.grants[1].reason) == "waits for 2 slots; 1 is free");
}

TEST_CASE("in a part of the pool that is less than what its jobs cannot give up now, the first of them keep theirs") {
  cluster::View view = waiting_jobs(3, 1);
  view.nodes[0].slots = 5;
  for (const std::size_t row : {0U, 1U}) {
    view.jobs[row].placement = {{0, 4}};
    view.jobs[row].resize_blocked = true;
  }
  CHECK(granted(view, wishing({4, 4, 4})) == std::vector<int>{4, 1, 0});
  view.jobs[1].size_min = 4;
  CHECK(granted(view, wishing({4, 4, 4})) == std::vector<int>{4, 0, 1});
}

TEST_CASE("a mark that stays keeps its time, a new one gets the round's") {
  cluster::View view = waiting_jobs(3, 1);
  view.jobs[0].mark = view.jobs[1].mark = {.level = 1, .since = Instant::from_micros(7)};
  Answers answers;
  answers.marks = {1, 2, std::nullopt};
  const auto allocation = allocated(view, answers);
  CHECK(allocation.grants[0].mark == cluster::Mark{.level = 1, .since = Instant::from_micros(7)});
  CHECK(allocation.grants[1].mark == cluster::Mark{.level = 2, .since = view.now});
  CHECK(allocation.grants[2].mark == cluster::Mark{});
}

TEST_CASE("the options of a job are all sizes within a node and whole nodes beyond") {
  cluster::View view = waiting_jobs(1, 4);
  view.jobs[0].size_max = 100;
  CHECK(size_options(view.jobs[0], extent_of(view)) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 32});
  view.jobs[0].size_max = 3;
  CHECK(size_options(view.jobs[0], extent_of(view)) == std::vector<int>{1, 2, 3});
}

TEST_CASE("of a long list of sizes a policy sees a part that reaches from end to end") {
  cluster::View view = waiting_jobs(1, 4);
  for (int size = 1; size <= 500; ++size) view.jobs[0].sizes.push_back(size);
  view.jobs[0].size_max = 500;
  const std::vector<int> options = size_options(view.jobs[0], extent_of(view));
  CHECK(options.size() <= 64);
  CHECK(options.front() == 1);
  CHECK(options.back() == 500);
  for (std::size_t i = 1; i < options.size(); ++i) CHECK(options[i] - options[i - 1] <= 9);
  CHECK(std::ranges::count(options, view.jobs[0].size_wanted) == 1);
}

}  // namespace tidepool::policies::host
