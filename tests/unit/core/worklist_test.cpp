// What a decision looks at again, and what it keeps.
#include "core/engine/worklist.hpp"

#include <catch2/catch.hpp>

#include "tests/support/cluster_builders.hpp"

namespace tidepool::core {
namespace {

EngineParts rule_parts() {
  return {{{"default", std::make_shared<test::WishPolicy>(std::make_shared<test::WishPolicy::Wishes>())}},
          {std::make_shared<test::PlainDetector>()},
          {}};
}

// A state whose jobs a test changes by hand.
struct Books {
  ClusterState state;
  EngineParts parts = rule_parts();
  Worklist work;

  Job& job(std::uint64_t id) {
    auto job = std::make_shared<Job>();
    job->id = JobId(id);
    job->spec.elastic = {.min = 1, .max = 1, .preferred = 1, .sizes = {1}};
    Job& made = *job;
    state.jobs[made.id] = std::move(job);
    return made;
  }
  void follow(const Job& job) { work.follow(state, parts, job, state.now); }
};

Touched touched(std::uint64_t job, bool capacity) {
  Touched touched;
  touched.jobs.insert(JobId(job));
  touched.capacity = capacity;
  return touched;
}

}  // namespace

TEST_CASE("what is kept is good until one of its declared inputs changes, and no longer") {
  Worklist work;
  Memo<int> memo;
  const auto stamp = [&] { return work.stamp({.sets = {}, .others = {Input::kSlots, Input::kPlan}}); };
  CHECK(memo.find(stamp()) == nullptr);
  memo.keep(7, stamp());
  REQUIRE(memo.find(stamp()) != nullptr);
  CHECK(*memo.find(stamp()) == 7);
  work.learn(touched(1, false), true);  // nodes are none of its inputs
  CHECK(memo.find(stamp()) != nullptr);
  work.learn(touched(1, true), false);
  CHECK(memo.find(stamp()) == nullptr);
  memo.keep(8, stamp());
  work.accept({});  // changes nothing
  CHECK(memo.find(stamp()) != nullptr);
  Decision decision;
  decision.replan.emplace();
  work.accept(decision);
  CHECK(memo.find(stamp()) == nullptr);
}

TEST_CASE("a fact about no job is an input of its own") {
  Worklist work;
  const auto stamp = [&] { return work.stamp({.sets = {}, .others = {Input::kDesk}}); };
  const auto before = stamp();
  work.learn(touched(1, true), true);
  CHECK(stamp() == before);
  work.learn({}, false);
  CHECK(stamp() != before);
}

TEST_CASE("a set counts as changed when a job that is in it, or was, has changed") {
  Books books;
  const auto stamp = [&] { return books.work.stamp({.sets = {JobSet::kPending}, .others = {}}); };
  Job& waits = books.job(1);
  Job& runs = books.job(2);
  runs.phase = phase::Running{};
  books.follow(waits);
  const auto one_waits = stamp();
  CHECK(books.work[JobSet::kPending].size() == 1);
  books.follow(runs);  // neither is nor was in it
  CHECK(stamp() == one_waits);
  books.follow(waits);
  CHECK(stamp() != one_waits);
  const auto again = stamp();
  waits.phase = phase::Running{};
  books.follow(waits);
  CHECK(stamp() != again);
  CHECK(books.work[JobSet::kPending].size() == 0);
}

TEST_CASE("what was learnt is looked at until a decision is accepted; a new policy looks at everything") {
  Books books;
  (void)books.job(1);
  (void)books.job(2);
  books.work.accept({});
  CHECK(books.work.to_look_at(books.state.now).size() == 0);
  books.work.learn(touched(2, true), false);
  CHECK(books.work.slots_have_changed());
  CHECK(books.work.to_look_at(books.state.now).contains(JobId(2)));
  books.work.accept({});
  CHECK_FALSE(books.work.slots_have_changed());
  CHECK(books.work.to_look_at(books.state.now).size() == 0);
  books.work.reset(books.state);
  CHECK(books.work.to_look_at(books.state.now).size() == 2);
  CHECK(books.work.slots_have_changed());
  CHECK(books.work.nodes_have_changed());
}

TEST_CASE("a job that waits for slots keeps others from growing until it is cancelled, though workers of it still go") {
  Books books;
  Job& job = books.job(1);
  job.verdict.blocked.on = BlockedOn::kSlots;
  books.follow(job);
  CHECK(books.work[JobSet::kClaiming].contains(job.id));
  job.requests.cancel = true;
  books.follow(job);
  CHECK_FALSE(books.work[JobSet::kClaiming].contains(job.id));
}

}  // namespace tidepool::core
