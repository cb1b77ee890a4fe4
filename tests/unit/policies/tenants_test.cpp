// Tenants that share a pool under tidal: guarantees, loans, limits, and what a tenant's jobs may ask for.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/explain/current_reason.hpp"
#include "core/explain/explain.hpp"
#include "core/explain/suggestions.hpp"
#include "core/explain/tenant_evidence.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

std::vector<std::string> told_keepers(const SharedPool& pool, JobId job) {
  const core::ClusterState& state = pool.story.state();
  return core::keepers_evidence(core::keepers_for(state, *state.find_job(job), [](const auto&) { return true; }));
}

std::string refusal(SharedPool& pool, core::JobSpec spec) {
  return pool.story.refuses(core::JobSubmitted{pool.story.engine().next_job_id(), std::move(spec)});
}

}  // namespace

TEST_CASE("a guarantee is had back within the grace and the extension, whatever the borrower's programs answer") {
  constexpr Duration kExtension = Duration::seconds(60);
  SharedPool pool(
      {{.name = "vision", .guarantee = 8}, {.name = "speech", .guarantee = 0, .notice_extension = kExtension}});
  const JobId borrower = pool.running("speech", 8);
  const JobId claimant = pool.submit(SharedPool::spec("vision", 4));
  REQUIRE(preempted_in(pool.story.decide()) == 1);
  const Instant end = pool.story.now() + pool.story.job(borrower).spec.elastic.grace + kExtension;
  const std::vector<WorkerId> workers = pool.story.job(borrower).membership.workers;
  const DecisionId decision = pool.story.worker(workers.front()).notice.value().decision;
  // Each asks for an hour, again and again.
  for (std::int64_t number = 1; pool.story.now() < end; ++number) {
    REQUIRE(names_of(pool.story.decide()).empty());
    for (const WorkerId id : workers) {
      const Duration hour = Duration::seconds(3'600);
      pool.story.learn(core::NoticeAnswered{id, decision, number, core::NoticeAnswer::kUntil, hour});
    }
    pool.story.pass(Duration::seconds(10));
  }
  pool.story.pass(end - pool.story.now());
  const auto stopped = pool.story.decide();
  REQUIRE(stopped.plan.size() == workers.size());
  CHECK(std::get<core::StopWorkerIntent>(stopped.plan[0].intent).grace == Duration());
  for (const WorkerId id : workers) pool.story.exit(id, -1);
  pool.story.settle(claimant);
  CHECK(pool.story.job(claimant).size() == 4);
}

TEST_CASE("a tenant borrows what others do not use, and a guarantee is had back in one decision") {
  SharedPool pool({{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 4}});
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 2);
  CHECK(pool.held_by("vision") == 8);
  CHECK(pool.plan("vision").satisfied);
  const JobId first = pool.submit(SharedPool::spec("speech", 2));
  CHECK(preempted_in(pool.story.decide()) == 1);  // no more than it needs
  CHECK(pool.plan("speech").entitled == 2);
  CHECK(pool.plan("vision").entitled == 6);
  const JobId second = pool.submit(SharedPool::spec("speech", 2));
  CHECK(preempted_in(pool.story.decide()) == 1);
  // A third one is beyond the guarantee, and vision has no more than its own.
  const JobId third = pool.submit(SharedPool::spec("speech", 2));
  CHECK(preempted_in(pool.story.decide()) == 0);
  for (const auto& [id, job] : IdTable(pool.story.state().jobs)) pool.story.settle(id);
  CHECK(pool.story.job(first).size() == 2);
  CHECK(pool.story.job(second).size() == 2);
  CHECK(pool.story.job(third).state() == core::JobState::kPending);
  CHECK(pool.held_by("vision") == 4);
}

TEST_CASE("a guarantee is had back for a job with a price cap, too, where no node is too dear for it") {
  for (const bool is_rich : {true, false}) {
    SharedPool pool({{.name = "vision", .weight = 0}, {.name = "speech", .guarantee = 4}});
    for (int i = 0; i < 4; ++i) (void)pool.running("vision", 2);
    core::JobSpec capped = SharedPool::spec("speech", 2);
    capped.scaling.price_cap = is_rich ? Money::micros(2'000'000) : Money::micros(1'000'000);  // a slot costs a dollar
    (void)pool.submit(capped);
    CHECK(preempted_in(pool.story.decide()) == (is_rich ? 1 : 0));
  }
}

TEST_CASE("a guarantee is had back as soon as its job has saved its state and left a node that is being drained") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "guests"}}, 2);
  const JobId claims = pool.running("vision", 2);
  const NodeId leaves = pool.story.worker(pool.story.job(claims).membership.workers.front()).node;
  pool.story.node(4);
  core::JobSpec elastic = SharedPool::spec("guests", 4);
  elastic.elastic.min = 2;
  elastic.elastic.sizes = {2, 4};
  const JobId borrows = pool.running(elastic);
  pool.story.learn(core::NodeDrainRequested{leaves, Duration::seconds(60), "a new disk"});
  pool.story.decide();
  pool.story.pass(Duration::seconds(60) - pool.story.job(claims).spec.elastic.grace);
  CHECK(preempted_in(pool.story.decide()) == 1);
  const core::Membership& left = pool.story.job(claims).membership;
  const std::vector<WorkerId> workers = left.workers;
  pool.story.learn(core::StateParked{claims, workers.front(), left.generation, 2, 1000, 2});
  for (const WorkerId worker : workers) pool.story.exit(worker);
  pool.story.decide();
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 2);
  CHECK(pool.story.job(borrows).size() == 2);
}

TEST_CASE("a job that is preempted for one of another tenant is told by which rule, and for one of its own by none") {
  struct Shared {
    core::Tenant vision{.name = "vision"};
    core::Tenant speech{.name = "speech"};
    std::string claims_of = "speech";
    std::string rule;
  };
  const core::Tenant bound{.name = "vision", .weight = 100, .borrow = 4};
  for (const Shared& each :
       {Shared{.speech = {.name = "speech", .guarantee = 4}, .rule = " (rule: guarantee)"},
        Shared{.rule = " (rule: weight)"}, Shared{.vision = bound, .rule = " (rule: borrow)"},
        // Two of the four slots that it claims are its guarantee.
        Shared{.vision = bound, .speech = {.name = "speech", .guarantee = 2}, .rule = " (rule: guarantee)"},
        // It is the tenant above that holds more than it may.
        Shared{.vision = {.name = "vision", .parent = "lab"}, .rule = " (rule: borrow)"},
        Shared{.claims_of = "vision", .rule = ""}}) {
    SharedPool pool({{.name = "lab"}, {.name = "vision", .parent = each.vision.parent}, {.name = "speech"}});
    for (int i = 0; i < 2; ++i) (void)pool.running("vision", 4);
    pool.configure({{.name = "lab", .weight = 100, .borrow = 4}, each.vision, each.speech});
    core::JobSpec spec = SharedPool::spec(each.claims_of, 4);
    spec.priority = 10;
    const JobId claims = pool.submit(std::move(spec));
    const core::Decision decision = pool.story.decide();
    REQUIRE(preempted_in(decision) == 1);
    const std::string told = "preempted for " + claims.text() + each.rule;
    CHECK(core::sentence(decision.plan.front().reason) == told);
    const JobId victim = core::job_of(decision.plan.front().intent);
    CHECK(core::sentence(pool.story.job(victim).verdict.reason) == told);
  }
}

TEST_CASE("what is beyond guarantees is shared by weight") {
  SharedPool pool({{.name = "vision", .weight = 3}, {.name = "speech", .weight = 1}});
  for (int i = 0; i < 8; ++i) (void)pool.submit(SharedPool::spec("vision", 1));
  for (int i = 0; i < 8; ++i) (void)pool.submit(SharedPool::spec("speech", 1));
  pool.story.decide();
  CHECK(pool.plan("vision").entitled == 6);
  CHECK(pool.plan("speech").entitled == 2);
}

TEST_CASE("a tenant has no more than it may borrow, and keeps what it does not lend") {
  SharedPool pool({{.name = "vision", .guarantee = 2, .borrow = 2}, {.name = "speech", .guarantee = 4, .lend = 1}});
  for (int i = 0; i < 8; ++i) (void)pool.submit(SharedPool::spec("vision", 1));
  pool.story.decide();
  CHECK(pool.plan("vision").entitled == 4);
  pool.configure({{.name = "vision", .guarantee = 2}, {.name = "speech", .guarantee = 4, .lend = 1}});
  pool.story.decide();
  CHECK(pool.plan("vision").entitled == 5);  // three are kept for speech
}

TEST_CASE("a tenant that could borrow what others do not lend is told the rule and the count, and no other tenant") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "speech", .guarantee = 4, .lend = 1}});
  JobId last;
  for (int i = 0; i < 8; ++i) last = pool.submit(SharedPool::spec("vision", 1));
  pool.story.decide();
  const std::string line =
      "tenant vision would have 3 slots more if others lent all that they are guaranteed and do not use (rule: lend)";
  const auto told = [&] { return core::explain(pool.story.state(), last).evidence; };
  const auto tells = [&] {
    const std::vector<std::string> lines = told();
    return std::count(lines.begin(), lines.end(), line);
  };
  CHECK(tells() == 1);
  CHECK(told().front() == "the 3 free slots are kept for guarantees that are not lent (rule: lend)");
  for (const std::string& each : told()) CHECK(each.find("speech") == std::string::npos);
  CHECK(told_keepers(pool, last) == std::vector<std::string>{"tenant speech keeps 3 slots of these (lend: 1)"});
  // Its own limit binds first, or all is lent: another rule.
  pool.configure({{.name = "vision", .guarantee = 2, .borrow = 2}, {.name = "speech", .guarantee = 4, .lend = 1}});
  pool.story.decide();
  CHECK(told_keepers(pool, last).empty());
  pool.configure({{.name = "vision", .guarantee = 2}, {.name = "speech", .guarantee = 4}});
  pool.story.decide();
  CHECK(told_keepers(pool, last).empty());
}

TEST_CASE("tenants that keep slots from another are named only as far as it would gain those slots") {
  const auto kept_of_vision = [](std::vector<core::Tenant> tenants) {
    SharedPool pool(std::move(tenants));
    JobId last;
    for (int i = 0; i < 8; ++i) last = pool.submit(SharedPool::spec("vision", 1));
    pool.story.decide();
    return told_keepers(pool, last);
  };
  using Lines = std::vector<std::string>;
  // Its parent may not borrow, so what ops keeps is no matter.
  CHECK(kept_of_vision({{.name = "lab", .guarantee = 3, .borrow = 0},
                        {.name = "vision", .parent = "lab", .guarantee = 1},
                        {.name = "speech", .parent = "lab", .guarantee = 2, .lend = 0},
                        {.name = "ops", .guarantee = 4, .lend = 0}}) ==
        Lines{"tenant speech keeps 2 slots of these (lend: 0)"});
  // Of a tree of two levels the tenant is named that does not lend, and of a guarantee beyond the pool what there is.
  CHECK(kept_of_vision({{.name = "research", .guarantee = 4},
                        {.name = "nlp", .parent = "research", .guarantee = 4, .lend = 1},
                        {.name = "vision"}}) == Lines{"tenant nlp keeps 3 slots of these (lend: 1)"});
  CHECK(kept_of_vision({{.name = "speech", .guarantee = 20, .lend = 0}, {.name = "vision", .guarantee = 4}}).size() ==
        1);
}

TEST_CASE("a job that waits for what others do not lend is advised to ask for it, by name where these may be seen") {
  SharedPool pool({{.name = "vision", .guarantee = 1},
                   {.name = "speech", .guarantee = 3, .lend = 2},
                   {.name = "ops", .guarantee = 2, .lend = 0}});
  JobId last;
  for (int i = 0; i < 8; ++i) last = pool.submit(SharedPool::spec("vision", 1));
  pool.story.decide();
  using Lines = std::vector<std::string>;
  const std::string ask = "ask an operator to raise lend of the tenants that keep slots";
  const auto told = [&](bool may_set, const core::TenantFilter& is_seen) {
    core::Explanation why = core::explain(pool.story.state(), last);
    core::name_lenders(core::keepers_for(pool.story.state(), pool.story.job(last), is_seen), may_set, why);
    REQUIRE(why.kept_by_guarantees == 3);
    Lines lending;
    for (const core::Advice& each : why.advice) {
      if (each.text.find("lend") == std::string::npos) continue;
      lending.push_back(each.text);
      CHECK(each.for_admin == (!may_set && !each.of_lenders));
    }
    return lending;
  };
  CHECK(told(false, [](const auto&) { return false; }) == Lines{ask});
  // Those that keep most come first; where others keep some, too, the operator is still asked.
  CHECK(told(true, [](const auto&) { return true; }) ==
        Lines{"let tenant ops lend more (its lend is 0)", "let tenant speech lend more (its lend is 2)"});
  CHECK(told(false, [](const auto& tenant) { return tenant == "ops"; }) ==
        Lines{"let tenant ops lend more (its lend is 0)", ask});
  // With all lent nothing has to be asked for.
  pool.configure({{.name = "vision", .guarantee = 1}, {.name = "speech", .guarantee = 3}, {.name = "ops"}});
  pool.story.decide();
  for (const std::string& line : core::explain(pool.story.state(), last).unblocks()) {
    CHECK(line.find("lend") == std::string::npos);
  }
}

TEST_CASE("an operator is still asked where more tenants keep slots than are named") {
  core::Explanation why;
  why.kept_by_guarantees = 4;
  core::Advice ask("ask an operator");
  ask.of_lenders = true;
  why.advice.push_back(ask);
  using Lines = std::vector<std::string>;
  const std::vector<core::Keeper> keepers{{.tenant = "nlp", .lend = 0, .slots = 1},
                                          {.tenant = "ops", .lend = 0, .slots = 2},
                                          {.tenant = "speech", .lend = 2, .slots = 1}};
  core::name_lenders(keepers, true, why);
  CHECK(why.unblocks() == Lines{"let tenant ops lend more (its lend is 0)", "let tenant nlp lend more (its lend is 0)",
                                "ask an operator"});
}

TEST_CASE("a share that a tenant's gangs do not fit into goes to the others") {
  SharedPool pool({{.name = "vision"}, {.name = "speech"}});
  (void)pool.submit(SharedPool::spec("vision", 6));
  for (int i = 0; i < 8; ++i) (void)pool.submit(SharedPool::spec("speech", 1));
  pool.story.decide();
  CHECK(pool.plan("vision").entitled == 0);
  CHECK(pool.plan("speech").entitled == 8);
}

TEST_CASE("two tenants whose gangs each need the whole pool take turns, about once a half-life") {
  SharedPool pool({{.name = "vision"}, {.name = "speech"}}, 4);
  const JobId vision = pool.submit(SharedPool::spec("vision", 4));
  const JobId speech = pool.submit(SharedPool::spec("speech", 4));
  int turns = 0;
  std::map<JobId, int> hours;
  for (int hour = 0; hour < 5 * 24; ++hour) {
    pool.story.pass(Duration::seconds(3'600));
    turns += preempted_in(pool.story.decide());
    pool.settle_all();
    for (const JobId job : {vision, speech}) {
      if (pool.story.job(job).size() == 0) continue;
      pool.story.steps(job, 1);
      ++hours[job];
    }
  }
  CHECK(turns >= 4);
  CHECK(turns <= 8);
  CHECK(hours[vision] + hours[speech] == 5 * 24);
  CHECK(std::abs(hours[vision] - hours[speech]) <= 24);
}

TEST_CASE("what a tenant has borrowed while others waited counts against it later") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .weight = 0}});
  for (int i = 0; i < 8; ++i) (void)pool.running("vision", 1);
  (void)pool.submit(SharedPool::spec("speech", 1));
  for (int i = 0; i < 4; ++i) {
    pool.story.pass(Duration::seconds(6 * 3600));
    for (const auto& [id, job] : IdTable(pool.story.state().jobs)) {
      if (job->size() > 0) pool.story.steps(id, 1);
    }
    pool.story.decide();
  }
  CHECK(pool.plan("vision").loan > 3);
  CHECK(pool.plan("vision").loan < 8);
  CHECK(pool.plan("speech").loan == 0);
}

TEST_CASE("what a tenant had used before it has jobs again is no loan") {
  SharedPool pool({{.name = "vision"}, {.name = "speech"}});
  const JobId first = pool.running("vision", 8);
  pool.story.pass(Duration::seconds(24 * 3600));
  pool.story.steps(first, 1);
  pool.end(first);
  (void)pool.running("speech", 8);
  pool.story.pass(Duration::seconds(6 * 3600));
  pool.story.decide();
  (void)pool.submit(SharedPool::spec("vision", 1));
  pool.story.decide();
  const Duration used = pool.story.state().tenant_uses.at("vision").slot_time;
  CHECK(used > Duration::seconds(7 * 24 * 3600));
  CHECK(pool.plan("vision").counted_use == used);
  CHECK(pool.plan("vision").loan == 0);
}

TEST_CASE("jobs that would keep slots for good start within their tenant's guarantee only") {
  SharedPool pool({{.name = "vision", .guarantee = 3}, {.name = "speech", .guarantee = 4}});
  core::JobSpec firm = SharedPool::spec("vision", 2);
  firm.preemptible = false;
  const JobId first = pool.submit(firm);
  const JobId second = pool.submit(firm);
  pool.story.settle(first);
  CHECK(pool.story.job(first).size() == 2);
  CHECK(pool.story.job(second).state() == core::JobState::kPending);
  const auto* why = reason_as<core::reason::BeyondGuarantee>(pool.story.job(second).verdict.reason);
  REQUIRE(why != nullptr);
  CHECK(why->held == 2);
  CHECK(core::sentence(pool.story.job(second).verdict.reason) ==
        "waits: it would keep 2 slots permanently, and other jobs already keep 2 of the 3 that tenant vision is "
        "guaranteed");
  CHECK(core::explain(pool.story.state(), second).unblocks().front() ==
        "schedctl change job-2 preemptible=true (of a pinned size: schedctl resize job-2 0; of a policy of its own: "
        "schedctl change job-2 scaling.policy=default)");
  pool.configure({{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 4}});
  pool.story.settle(second);
  CHECK(pool.story.job(second).size() == 2);
}

TEST_CASE("a job that would keep slots for good and that no slot is cheap enough for holds up none of its tenant") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "speech", .guarantee = 4}});
  core::JobSpec firm = SharedPool::spec("vision", 2);
  firm.preemptible = false;
  core::JobSpec capped = firm;
  capped.priority = 5;
  capped.scaling.price_cap = Money::micros(1'000'000);  // a slot costs a dollar
  const JobId dear = pool.submit(capped);
  const JobId cheap = pool.submit(firm);
  pool.story.settle(cheap);
  REQUIRE(pool.story.job(cheap).size() == 2);
  CHECK(pool.story.job(dear).size() == 0);
  // Cheaper slots give it no more than the guarantee has room for.
  const Instant now = pool.story.now();
  pool.story.learn(core::PricesConfigured{
      {{{.name = "all", .entries = {{.from_us = now.count_us(), .price = Money::micros(100'000)}}}}}});
  pool.settle_all();
  CHECK(pool.story.job(dear).size() == 0);
  CHECK(says<core::reason::BeyondGuarantee>(pool.story.job(dear).verdict.reason));
  pool.end(cheap);
  pool.story.settle(dear);
  CHECK(pool.story.job(dear).size() == 2);
}

TEST_CASE("a size is pinned, and a policy of a job's own taken, within the guarantee only") {
  SharedPool pool({{.name = "vision", .guarantee = 3}, {.name = "speech", .guarantee = 4}});
  core::JobSpec spec = SharedPool::spec("vision", 1);
  spec.elastic.max = 6;
  spec.elastic.sizes = {1, 2, 3, 6};
  core::JobSpec own = spec;
  own.scaling.policy = "fixed";
  CHECK_THAT(refusal(pool, own), Catch::Contains("with a policy of its own it keeps 6 slots for good"));
  const JobId job = pool.submit(spec);
  pool.story.settle(job);
  CHECK_THAT(pool.story.refuses(core::JobResizeRequested{job, 6}),
             Catch::Contains("tenant \"vision\" is guaranteed 3, of which 0 are kept"));
  pool.story.learn(core::JobResizeRequested{job, 2});
  const JobId other = pool.submit(spec);
  pool.story.settle(other);
  CHECK_THAT(pool.story.refuses(core::JobResizeRequested{other, 2}), Catch::Contains("of which 2 are kept"));
}

TEST_CASE("a running job has the size that its user pins within the guarantee, from what others have borrowed") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "guests"}}, 4);
  core::JobSpec spec = SharedPool::spec("vision", 1);
  spec.elastic.max = 2;
  spec.elastic.sizes = {1, 2};
  const JobId job = pool.submit(spec);
  pool.story.learn(core::JobResizeRequested{job, 1});
  pool.story.settle(job);
  for (int i = 0; i < 3; ++i) (void)pool.running("guests", 1);
  CHECK(pool.plan("vision").entitled == 1);
  pool.story.learn(core::JobResizeRequested{job, 2});
  CHECK(preempted_in(pool.story.decide()) == 1);
  CHECK(pool.plan("vision").entitled == 2);
  pool.settle_all();
  CHECK(pool.story.job(job).size() == 2);
  CHECK(pool.held_by("guests") == 2);
}

TEST_CASE("a job may ask for what its tenant and those above allow, and is told the limit that it breaks") {
  SharedPool pool({{.name = "lab",
                    .guarantee = 4,
                    .priority_max = 5,
                    .job_price_max = Money::micros(2'000'000),
                    .job_grace_max = Duration::seconds(60),
                    .job_hold_max = Duration::seconds(120)},
                   {.name = "vision", .parent = "lab", .guarantee = 2, .job_slots_max = 4}});
  core::JobSpec good = SharedPool::spec("vision", 2);
  good.scaling.price_cap = Money::micros(2'000'000);
  core::JobSpec bad = good;
  bad.priority = 6;
  CHECK_THAT(refusal(pool, bad), Catch::Contains("priority 6 is above priority_max 5 of tenant \"lab\""));
  bad = good;
  bad.elastic.max = 5;
  CHECK_THAT(refusal(pool, bad), Catch::Contains("5 slots, above job_slots_max 4 of tenant \"vision\""));
  bad = good;
  bad.elastic.grace = Duration::seconds(61);
  CHECK_THAT(refusal(pool, bad), Catch::Contains("elastic.grace 61s is above job_grace_max 1m of tenant \"lab\""));
  bad = good;
  bad.elastic.min_runtime = Duration::seconds(121);
  CHECK_THAT(refusal(pool, bad), Catch::Contains("elastic.min_runtime 121s is above job_hold_max 2m of tenant \"lab\"; "
                                                 "set it to at most that"));
  bad = good;
  bad.elastic.cooldown = Duration::seconds(121);
  CHECK_THAT(refusal(pool, bad), Catch::Contains("elastic.cooldown 121s is above job_hold_max 2m of tenant \"lab\""));
  bad = good;
  bad.scaling.price_cap.reset();
  CHECK_THAT(refusal(pool, bad), Catch::Contains("scaling.price_cap must be at most 2.00 an hour"));
  bad = good;
  bad.preemptible = false;
  bad.elastic.sizes = {3};
  bad.elastic.min = bad.elastic.max = bad.elastic.preferred = 3;
  CHECK_THAT(refusal(pool, bad), Catch::Contains("keeps 3 slots for good, more than the guarantee of 2"));
  SharedPool loose({{.name = "vision"}});
  bad.scaling.price_cap.reset();
  bad.elastic.sizes = {1};
  bad.elastic.min = bad.elastic.max = bad.elastic.preferred = 1;
  CHECK_THAT(refusal(loose, bad), Catch::Contains("keeps 1 slot for good, more than the guarantee of 0"));
  bad = good;
  bad.tenant = "lab";
  CHECK_THAT(refusal(pool, bad), Catch::Contains("has tenants below it"));
  bad.tenant = "visoin";
  CHECK_THAT(refusal(pool, bad), Catch::Contains("there is no tenant \"visoin\""));
  const JobId job = pool.submit(good);
  bad = good;
  bad.priority = 9;
  CHECK_THAT(pool.story.refuses(core::JobChanged{job, bad}), Catch::Contains("priority_max"));
}

TEST_CASE("a limit on how long jobs keep slots leaves those that run as they are, and holds for their next change") {
  SharedPool pool({{.name = "vision"}});
  core::JobSpec spec = SharedPool::spec("vision", 2);
  spec.elastic.min_runtime = Duration::seconds(7'200);
  const JobId job = pool.running(spec);
  pool.configure({{.name = "lab", .job_hold_max = Duration::seconds(3'600)}, {.name = "vision", .parent = "lab"}});
  CHECK(pool.story.job(job).spec.elastic.min_runtime == Duration::seconds(7'200));
  CHECK_THAT(refusal(pool, spec), Catch::Contains("elastic.min_runtime 2h is above job_hold_max 1h of tenant \"lab\""));
  core::JobSpec changed = spec;
  changed.priority = 1;
  CHECK_THAT(pool.story.refuses(core::JobChanged{job, changed}), Catch::Contains("above job_hold_max 1h"));
  changed.elastic.min_runtime = Duration::seconds(3'600);
  pool.story.learn(core::JobChanged{job, changed});
  CHECK(pool.story.job(job).spec.priority == 1);
}

TEST_CASE("only jobs of tenants that are granted it, with all above them, have nodes to themselves") {
  SharedPool pool({{.name = "lab", .exclusive_nodes = true},
                   {.name = "vision", .parent = "lab", .exclusive_nodes = true},
                   {.name = "speech", .parent = "lab"},
                   {.name = "guests"},
                   {.name = "visitors", .parent = "guests", .exclusive_nodes = true}});
  const auto alone = [](const char* tenant) {
    core::JobSpec spec = SharedPool::spec(tenant, 1);
    spec.placement.exclusive = true;
    return spec;
  };
  CHECK_THAT(refusal(pool, alone("speech")), Catch::Contains("placement.exclusive is not granted to tenant \"speech\" "
                                                             "(exclusive_nodes); leave it out, or ask an operator"));
  CHECK_THAT(refusal(pool, alone("visitors")), Catch::Contains("is not granted to tenant \"guests\""));
  const JobId plain = pool.running("speech", 1);
  CHECK_THAT(pool.story.refuses(core::JobChanged{plain, alone("speech")}), Catch::Contains("is not granted"));
  pool.end(plain);
  // A job that has nodes to itself keeps them when that is granted no more, and may not be changed otherwise than to
  // do without.
  const JobId job = pool.running(alone("vision"));
  pool.configure({{.name = "lab"},
                  {.name = "vision", .parent = "lab", .exclusive_nodes = true},
                  {.name = "speech", .parent = "lab"}});
  CHECK(pool.story.job(job).spec.placement.exclusive);
  core::JobSpec changed = alone("vision");
  changed.priority = 1;
  CHECK_THAT(pool.story.refuses(core::JobChanged{job, changed}), Catch::Contains("is not granted to tenant \"lab\""));
  changed.placement.exclusive = false;
  pool.story.learn(core::JobChanged{job, changed});
  CHECK(pool.story.job(job).spec.priority == 1);
  // Names decide nothing where no tenants are set.
  SharedPool unshared({});
  (void)unshared.running(alone("anyone"));
}

TEST_CASE("a tree of tenants that contradicts itself, or leaves out one with jobs, is refused") {
  SharedPool pool({{.name = "vision"}});
  const auto refused = [&](std::vector<core::Tenant> tenants) {
    return pool.story.refuses(core::TenantsConfigured{{.tenants = std::move(tenants)}});
  };
  CHECK_THAT(refused({{.name = "a b"}}), Catch::Contains("a name has"));
  CHECK_THAT(refused({{.name = "a"}, {.name = "a"}}), Catch::Contains("two of this name"));
  CHECK_THAT(refused({{.name = "a", .parent = "b"}, {.name = "b"}}), Catch::Contains("\"b\" is not there before it"));
  CHECK_THAT(refused({{.name = "a", .guarantee = 3}, {.name = "b", .parent = "a", .guarantee = 4}}),
             Catch::Contains("are guaranteed 4 slots, it has 3"));
  CHECK_THAT(refused({{.name = "a", .guarantee = 3, .guarantee_by_type = {{"x", 2}, {"y", 2}}}}),
             Catch::Contains("guarantee_by_type gives 4 slots, of a guarantee of 3"));
  CHECK_THAT(refused({{.name = "a", .guarantee = 3, .guarantee_by_type = {{"x", 1}}},
                      {.name = "b", .parent = "a", .guarantee = 3, .guarantee_by_type = {{"x", 2}}}}),
             Catch::Contains("are guaranteed 2 slots of type x, it has 1"));
  CHECK_THAT(refused({{.name = "a", .weight = -1}}), Catch::Contains("weight is from 0"));
  CHECK_THAT(refused({{.name = "a", .job_hold_max = Duration::seconds(-1)}}),
             Catch::Contains("job_hold_max is from 0s to 1d"));
  (void)pool.submit(SharedPool::spec("vision", 2));
  CHECK_THAT(refused({{.name = "speech"}}), Catch::Contains("tenant \"vision\" has jobs that have not ended"));
  CHECK_THAT(refused({{.name = "vision"}, {.name = "images", .parent = "vision"}}), Catch::Contains("no leaf"));
  pool.configure({});  // shared by no rule any more
  pool.story.decide();
  CHECK(pool.story.state().plan.tenants.empty());
  CHECK(pool.story.job(JobId(1)).size() == 0);
}

TEST_CASE("a job that waits is told its tenant's share, and only jobs of its tenant whose end would help it") {
  SharedPool pool({{.name = "vision", .guarantee = 4, .borrow = 0}, {.name = "speech", .guarantee = 4}});
  const JobId mine = pool.running("vision", 4);
  (void)pool.running("speech", 2);
  const JobId waits = pool.submit(SharedPool::spec("vision", 2));
  pool.story.decide();
  const core::Explanation told = core::explain(pool.story.state(), waits);
  CHECK_THAT(told.evidence, Catch::VectorContains(std::string(
                                "tenant vision may have 4 slots now, 4 of them guaranteed; it may borrow no more than "
                                "0 slots; its jobs hold 4 slots")));
  CHECK_THAT(told.unblocks(), Catch::VectorContains("cancel " + mine.text() + ", which holds 4 slots"));
  CHECK_THAT(told.unblocks(),
             Catch::VectorContains(std::string("a larger guarantee for tenant vision: schedctl tenants apply FILE")));
  for (const std::string& line : told.unblocks()) CHECK(line.find("add a node") == std::string::npos);
}

TEST_CASE("a job that its tenant's share keeps from growing is told the share, and not to raise its own maximum") {
  SharedPool pool({{.name = "vision", .guarantee = 4}, {.name = "speech", .guarantee = 4}});
  core::JobSpec elastic = SharedPool::spec("vision", 8);
  elastic.elastic.min = 4;
  elastic.elastic.sizes = {4, 8};
  (void)pool.running(SharedPool::spec("speech", 4));
  const JobId mine = pool.submit(elastic);
  pool.settle_all();
  REQUIRE(pool.story.job(mine).size() == 4);
  pool.story.steps(mine, 600);
  pool.story.decide();
  const core::Explanation told = core::explain(pool.story.state(), mine);
  CHECK(core::sentence(told.reason) == "keeps 4 workers: tenant vision may have 4 slots now");
  CHECK_THAT(told.unblocks(),
             Catch::VectorContains(std::string("a larger guarantee for tenant vision: schedctl tenants apply FILE")));
  CHECK_THAT(told.unblocks(), !Catch::VectorContains(std::string("raise elastic.max")));
}

TEST_CASE("a job that waits for slots of its tenant's share is told the tenant, the share and what of it is held") {
  SharedPool pool({{.name = "vision", .guarantee = 4, .borrow = 0}, {.name = "speech", .guarantee = 4}});
  (void)pool.running("vision", 4);
  (void)pool.running("speech", 2);
  const JobId waits = pool.submit(SharedPool::spec("vision", 2));
  pool.story.decide();
  core::Job job = pool.story.job(waits);
  job.verdict.reason = core::reason::WaitingForSlots{.needed = 2};
  CHECK(core::explain(pool.story.state(), job).summary ==
        "waits for 2 slots; 2 are free, but scattered or kept for others; tenant vision may have 4 slots now, and "
        "its jobs hold 4");
}

TEST_CASE("a job that waits is told how many slots are free in the pool, whatever its tenant may have of them") {
  SharedPool pool({{.name = "vision", .guarantee = 6}, {.name = "speech"}});
  (void)pool.running("vision", 6);
  const JobId waits = pool.submit(SharedPool::spec("speech", 4));
  pool.story.decide();
  CHECK(core::sentence(core::current_reason(pool.story.state(), pool.story.job(waits))) ==
        "waits for 4 slots; 2 are free");
}

}  // namespace tidepool::test
