// Facts, decisions and the state survive the journal, and a damaged journal is refused.
#include <cmath>
#include <set>

#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/row_texts.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/row_oracle.hpp"

namespace tidepool::test {
namespace {

core::JobSpec full_spec() {
  core::JobSpec spec =
      job_spec({.max = 4, .sizes = {1, 2, 4}, .price_cap = Money::micros(5), .max_duration = Duration::seconds(9)});
  spec.batch.on_resize = core::OnResize::kAdaScale;
  spec.scaling.linear_utility = core::LinearUtility{12.5, Duration::seconds(60)};
  spec.scaling.piecewise_utility = core::PiecewiseUtility{{{Duration::seconds(1), 3}, {Duration::seconds(2), 1}}};
  spec.work_samples = 1'000'000;
  spec.deadline = Duration::seconds(7200);
  spec.slot_types = {"h100", "h200"};
  spec.mixed_types = true;
  spec.placement.selector = {{"disk", {"ssd", "nvme"}}, {"rack", {"r1"}}};
  spec.placement.strategy = core::TopologyStrategy::kStrictSpread;
  spec.placement.key = "rack";
  spec.placement.exclusive = true;
  spec.type_speeds = {{"h100", 1}, {"h200", 1.5}};
  spec.preemptible = false;
  using Plain = core::Argument::Plain;
  spec.run = core::RunSpec{.trainer = "charlm",
                           .command = {"python3", "a \"b\""},
                           .args = {{"steps", {Plain(std::int64_t{40})}},
                                    {"bias", {Plain(std::int64_t{-3})}},
                                    {"seed", {Plain(~std::uint64_t{})}},
                                    {"rate", {Plain(1e-7)}},
                                    {"whole", {Plain(2.0)}},
                                    {"shuffle", {Plain(true)}},
                                    {"data", {std::vector<Plain>{Plain(std::string("a")), Plain(0.5), Plain(false)}}},
                                    {"none", {std::vector<Plain>{}}}},
                           .env = {{"A", "b=c"}},
                           .workdir = "/data"};
  spec.checkpoint = {.every = Duration::seconds(60), .dir = "kept", .keep = 7};
  spec.elastic.step = 2;
  spec.elastic.group = 2;
  spec.slot_types_as_given = {"any", "h100"};
  spec.cpus = 3;
  spec.memory = std::int64_t{64} << 30U;
  spec.labels = {{"team", "vision\n"}, {"", "empty"}};
  spec.defaults_from = {{"elastic.cooldown", "lab"}};
  return spec;
}

core::PolicyRound full_round() {
  return {.number = 7,
          .asked_at = Instant::from_micros(17),
          .job_answers = {{.job = JobId(2),
                           .asked = 0xffff'ffff'ffff'ffff,
                           .admitted = false,
                           .rank = -0.5,
                           .size = 4,
                           .mark = 2,
                           .word = "Capped",
                           .numbers = {{"most", 4}}},
                          {.job = JobId(3), .asked = 1, .rank = {}, .size = {}, .mark = {}, .word = "", .numbers = {}}},
          .claims = {{"lab", 0}, {"vision", 12}},
          .pools = {{"gpu", 3, "Spare", {{"spare", 1}}}, {"spot", 0}},
          .fault = "policy.deadline",
          .message = "it took \"too\" long"};
}

core::Budget full_budget() {
  return {.limit = Money::micros(500'000'000),
          .window = core::BudgetWindow::kWeek,
          .thresholds = {{50, core::BudgetAction::kWarn}, {90, core::BudgetAction::kShrink}}};
}

PriceList full_prices() {
  const PriceWindow nights{
      .days = 0x1F, .from_minute = 22 * 60, .to_minute = 6 * 60 + 30, .price = Money::micros(900'000)};
  return {{{.name = "h100",
            .slot_type = "H100",
            .pool = "gpu",
            .labels = {{"zone", "eu"}},
            .spot_discount = 60,
            .entries = {{.from_us = {}, .price = Money::micros(2'500'000)},
                        {.from_us = 1'800'000'000'000'000, .price = Money::micros(1), .schedule = {nights}}}}}};
}

core::TenantTree full_tree() {
  return {.tenants = {{.name = "lab", .guarantee = 8, .weight = 0, .borrow = 4, .lend = 0},
                      {.name = "vision",
                       .parent = "lab",
                       .priority_max = -1,
                       .job_slots_max = 16,
                       .job_price_max = Money::micros(2'500'000),
                       .job_grace_max = Duration::seconds(90),
                       .job_hold_max = Duration::seconds(180),
                       .jobs_max = 500,
                       .exclusive_nodes = true,
                       .budget = full_budget(),
                       .notice_extension = Duration::seconds(120),
                       .notice_refusal = Duration::seconds(600),
                       .preempt_after = Duration::seconds(30)}},
          .half_life = Duration::seconds(60),
          .rebalance_every = Duration::seconds(7),
          .preempt_after = Duration::seconds(9),
          .churn = core::ChurnLimit{.per_job = 3, .pool = 20}};
}

std::vector<core::Fact> one_of_each() {
  return {core::JobSubmitted{JobId(1), full_spec()},
          core::JobCancelRequested{JobId(2)},
          core::JobResizeRequested{JobId(2), 3},
          core::JobSuspendRequested{JobId(2)},
          core::JobResumeRequested{JobId(2)},
          core::JobCheckpointRequested{JobId(2)},
          core::JobChanged{JobId(2), full_spec()},
          core::NodeJoined{NodeId(3), "local", 4, "cpu", Money::micros(17), {WorkerId(4), WorkerId(5)}},
          core::NodeLost{NodeId(3), "no heartbeat", true, true},
          core::NodeProbed{NodeId(3), {{"cpu", 41.5, 12.25}}},
          core::NodeCordonChanged{NodeId(3), true},
          core::NodeLabelled{NodeId(3), {{"rack", "r1"}, {"disk", std::nullopt}}},
          core::NodeDrainRequested{NodeId(3), Duration::seconds(600), "a new disk"},
          core::NodeDrainCancelled{NodeId(3)},
          core::NodeReclaimNoticed{NodeId(3), Duration::seconds(90)},
          core::NodeDampingConfigured{core::kUsualDamping},
          core::DetectorConfigured{"z_score"},
          core::NodeFaultsCleared{NodeId(3)},
          core::NodeRemoved{NodeId(3)},
          core::MaintenanceAdded{{.number = 2,
                                  .selector = {{"rack", {"r1", "r2"}}},
                                  .from_us = 1'700'000'000'000'000,
                                  .to_us = 1'700'003'600'000'000,
                                  .lead = Duration::seconds(600),
                                  .every = Duration::seconds(604'800),
                                  .reason = "firmware"}},
          core::MaintenanceRemoved{2},
          core::WorkerReady{WorkerId(4)},
          core::WorkerJoining{WorkerId(4), 7},
          core::WorkerStuck{WorkerId(4), 31, "computing", Duration::seconds(70)},
          core::SlotsHeld{WorkerId(4), Duration::seconds(5), "memory of GPU-1 is still held", -1, 9, "killed"},
          core::SlotsReleased{NodeId(3)},
          core::ProgramStarted{WorkerId(4), 7},
          core::ProgramEnded{WorkerId(4), 7, 1, 0, "no such file"},
          core::NoticeAnswered{WorkerId(4), DecisionId(31), 2, core::NoticeAnswer::kUntil, Duration::seconds(40)},
          core::WorkerExited{WorkerId(4), -1, 9, "killed \"hard\"\n", true, true, true},
          core::GenerationSwitched{JobId(2), 7, 120, 1.5, 2.25, 1, 64, 1 << 20,
                                   core::UnusedState{900, UnusedWhy::kUnreadable}},
          core::StepsMeasured{
              JobId(2), 7, 130, 2, Duration::millis(90), 128, std::nan(""), 3, {1, 2, 3, 4}, 8320, 64, 1930.5, 2},
          core::SharesChanged{JobId(2), 7, 2, 131, 0.75},
          core::DataEpochAudited{JobId(2), 3, 100, 99, false},
          core::TrainingFinished{JobId(2), 400, -HUGE_VAL, 25'600},
          core::StateParked{JobId(2), WorkerId(4), 8, 130, 1 << 20, 3.5},
          core::CheckpointTaken{JobId(2), WorkerId(4), 7, 128, 1 << 20, 4.5, "/ckpt/job-2/128"},
          core::CheckpointFailed{JobId(2), WorkerId(4), 7, 192, "/ckpt: open \"x\": No space left on device"},
          core::StateRestored{JobId(2), 9, 130, 1 << 20, "/dev/shm/job-2"},
          core::StateBrought{JobId(2), NodeId(3), 130, 1 << 20, Duration::millis(900)},
          core::StateLeft{JobId(2), NodeId(3), 130, "no byte of it has come for 30s"},
          core::PolicyActivated{core::PolicyFileRef{"capped", std::string(64, 'a'), "{\"most\":4}"}},
          core::PolicyRolledBack{"its user asked"},
          core::PolicyShadowed{std::nullopt},
          core::PolicyAnswered{full_round()},
          core::PoolsConfigured{0.5, {{.name = "gpu", .slot_type = "H100", .slots_per_node = 8, .max = 4}}},
          core::PoolNodeCreated{12, "i-0a1", Duration::seconds(7200)},
          core::PoolNodeCreateFailed{12, core::ProviderFault::kQuota, "no more than 4"},
          core::PoolNodeDeleted{12},
          core::PoolNodeDeleteFailed{12, core::ProviderFault::kTimeout, "no answer"},
          core::PoolListed{"gpu", 13, {{12, "i-0a1", std::nullopt}}, Instant::from_micros(7)},
          core::PoolListFailed{"gpu", core::ProviderFault::kGarbage, "<html>"},
          core::TenantsConfigured{full_tree()},
          core::PricesConfigured{full_prices()},
          core::UtcSet{1'700'000'000'000'000},
          core::ClockAdvanced{}};
}

TEST_CASE("Every fact reads back as it was written") {
  REQUIRE(one_of_each().size() == std::variant_size_v<core::Fact>);
  for (const auto& fact : one_of_each()) {
    const std::string written = canonical_json(core::to_json(fact));
    INFO(written);
    const auto read = core::fact_from_json(nlohmann::json::parse(written));
    REQUIRE(read.ok());
    CHECK(read->index() == fact.index());
    CHECK(canonical_json(core::to_json(*read)) == written);
    CHECK(core::fact_text(fact) == fact_by_tree(fact));
    const auto row = core::fact_from_text(core::fact_text(fact));
    REQUIRE(row.ok());
    CHECK(canonical_json(core::to_json(*row)) == written);
  }
  core::Job job;
  job.id = JobId(1);
  job.spec = full_spec();
  CHECK((*core::job_from_text(core::job_text(job)))->spec == job.spec);
}

TEST_CASE("A job stored before it could say how its workers lie packs them, with the selector that it has") {
  const core::Fact fact = core::JobSubmitted{JobId(1), full_spec()};
  auto before = core::to_json(fact);
  for (const char* field : {"strategy", "key", "exclusive"}) before["spec"]["placement"].erase(field);
  const auto read = core::fact_from_json(before);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  const core::PlacementSpec& placement = std::get<core::JobSubmitted>(*read).spec.placement;
  CHECK(placement == core::PlacementSpec{.selector = full_spec().placement.selector});
}

TEST_CASE("A job stored before there were groups of workers has groups of one") {
  core::JobSpec plain = full_spec();
  plain.elastic.group = 1;
  auto before = core::to_json(core::Fact(core::JobSubmitted{JobId(1), plain}));
  REQUIRE(before["spec"]["elastic"].erase("group") == 1);
  const auto read = core::fact_from_json(before);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(std::get<core::JobSubmitted>(*read).spec == plain);
  core::Job job;
  job.id = JobId(1);
  job.spec = plain;
  CHECK(core::job_text(job).find("group") == std::string::npos);
  CHECK((*core::job_from_text(core::job_text(job)))->spec == plain);
}

TEST_CASE("What was stored before there was memory asks for none and tells none") {
  auto submitted = core::to_json(core::Fact(core::JobSubmitted{JobId(1), full_spec()}));
  submitted["spec"].erase("memory");
  const auto job = core::fact_from_json(submitted);
  INFO((job.ok() ? std::string() : job.error().message));
  REQUIRE(job.ok());
  core::JobSpec without = full_spec();
  without.memory.reset();
  CHECK(std::get<core::JobSubmitted>(*job).spec == without);

  Story story;
  story.learn(core::PoolsConfigured{1, {{.name = "gpu", .max = 2, .memory_per_slot = 4'000}}});
  story.node(4);
  story.submit({});
  auto state = core::to_json(story.state());
  auto pools = core::to_json(core::Fact(core::PoolsConfigured{1, {{.name = "gpu", .max = 2}}}));
  state["nodes"][0].erase("memory_per_slot");
  state["jobs"][0]["spec"].erase("memory");
  state["pools"]["pools"]["gpu"]["spec"].erase("memory_per_slot");
  pools["pools"][0].erase("memory_per_slot");
  pools["pools"][0].erase("made_by");
  const auto read = core::state_from_json(state);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK_FALSE(read->find_node(NodeId(1))->memory_per_slot);
  CHECK_FALSE(read->find_job(JobId(1))->spec.memory);
  CHECK_FALSE(read->pools.pools.at("gpu").spec.memory_per_slot);
  CHECK(core::fact_from_json(pools).ok());
}

TEST_CASE("A job stored before it was told when a job saves in time is one that may not, if it has lost steps") {
  Story story;
  story.node(1);
  const JobId id = story.submit({});
  auto state = core::to_json(story.state());
  REQUIRE(state["jobs"][0]["saved"].erase("lost_at_leave") == 1);
  const auto read = core::state_from_json(state);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(read->find_job(id)->account.saved.lost_at_leave == Duration());
}

TEST_CASE("What a job that has ended took for its starts is stored, and an earlier version stored none of it") {
  core::ClusterState state;
  state.next_job = 2;
  auto ended = std::make_shared<core::EndedJob>();
  ended->id = JobId(1);
  ended->costs = {.boot_ms = 100, .restart_ms = 8'000};
  state.ended[JobId(1)] = ended;
  auto written = core::to_json(state);
  const auto read = core::state_from_json(written);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(read->find_ended(JobId(1))->costs.boot_ms == 100);
  CHECK_FALSE(read->find_ended(JobId(1))->costs.start_ms);
  CHECK(core::digest_of(*read) == core::digest_of(state));
  REQUIRE(written["ended"][0].erase("costs") == 1);
  const auto before = core::state_from_json(written);
  REQUIRE(before.ok());
  CHECK_FALSE(before->find_ended(JobId(1))->costs.boot_ms);
}

TEST_CASE("What an earlier version found of a job that waits names no domain") {
  Story story;
  const JobId id = story.submit({});
  story.decide();
  auto state = core::to_json(story.state());
  REQUIRE(state["jobs"][0]["verdict"]["blocked"].erase("domain") == 1);
  const auto read = core::state_from_json(state);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(core::digest_of(*read) == core::digest_of(story.state()));
  CHECK_FALSE(read->find_job(id)->verdict.blocked.domain);
}

TEST_CASE("What an earlier version stored of pools is read, and says nothing of what it did not know") {
  Story story;
  story.learn(core::PoolsConfigured{1, {{.name = "gpu", .min = 1, .max = 2}}});
  story.decide();
  auto state = core::to_json(story.state());
  REQUIRE(state["pools"]["nodes"].size() == 1);
  state["pools"]["nodes"][0][1].erase("ended_at");
  state["pools"].erase("forgotten_at");
  state["pools"].erase("gone");
  state["pools"]["pools"]["gpu"]["spec"].erase("made_by");
  state["pools"]["pools"]["gpu"].erase("list_backoff");
  state["pools"]["pools"]["gpu"].erase("list_fails_since");
  REQUIRE(state["pools"]["pools"]["gpu"].erase("failed_order") == 1);
  const auto read = core::state_from_json(state);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(read->pools == story.state().pools);
}

TEST_CASE("What an earlier version stored of a tenant that lacked a type says that it lacks some slots") {
  core::ClusterState state;
  state.tenants = core::TenantTree{.tenants = {{.name = "speech"}, {.name = "vision"}}};
  state.plan.tenants["speech"] = {.entitled = 2, .wanted = 2, .satisfied = true, .lacks_slots = 1};
  state.plan.tenants["vision"] = {.entitled = 2, .wanted = 2, .satisfied = true};
  auto written = core::to_json(state);
  for (const char* tenant : {"speech", "vision"}) {
    auto& plan = written["tenants"]["plans"][tenant];
    REQUIRE(plan.erase("lacks_slots") == 1);
    REQUIRE(plan.at("sated") == true);  // as it was called then
    plan["lacks_type"] = tenant == std::string("speech");
  }
  const auto read = core::state_from_json(written);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(read->plan.tenants == state.plan.tenants);
}

TEST_CASE(
    "A tree that an earlier version stored limits neither how long jobs keep what they hold nor how many there are") {
  const core::TenantTree tree{.tenants = {{.name = "lab", .job_grace_max = Duration::seconds(90)}}};
  core::ClusterState state;
  state.tenants = tree;
  auto written = core::to_json(state);
  auto set = core::to_json(core::Fact(core::TenantsConfigured{tree}));
  for (const char* field : {"job_hold_max", "jobs_max"}) {
    REQUIRE(written["tenants"]["tree"]["tenants"][0].erase(field) == 1);
    REQUIRE(set["tree"]["tenants"][0].erase(field) == 1);
  }
  const auto read = core::state_from_json(written);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(*read->tenants == tree);
  const auto fact = core::fact_from_json(set);
  REQUIRE(fact.ok());
  CHECK(std::get<core::TenantsConfigured>(*fact).tree == tree);
}

TEST_CASE("Under a tree that an earlier version stored, jobs may have nodes to themselves as they could then") {
  core::JobSpec alone = job_spec({});
  alone.placement.exclusive = true;
  const core::JobSubmitted submitted{JobId(1), alone};
  Story story;
  story.learn(core::TenantsConfigured{{.tenants = {{.name = alone.tenant}}}});
  auto written = core::to_json(story.state());
  auto set = core::to_json(core::Fact(core::TenantsConfigured{*story.state().tenants}));
  REQUIRE_FALSE(story.refuses(submitted).empty());  // a tree of this version grants it to none by itself
  REQUIRE(written["tenants"]["tree"]["tenants"][0].erase("exclusive_nodes") == 1);
  REQUIRE(set["tree"]["tenants"][0].erase("exclusive_nodes") == 1);
  const auto read = core::state_from_json(written);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(read->tenants->tenants.front().exclusive_nodes);
  const auto fact = core::fact_from_json(set);
  REQUIRE(fact.ok());
  story.learn(*fact);
  story.learn(submitted);
}

TEST_CASE("A switch that an earlier version stored tells of no unused state") {
  auto written = core::to_json(core::Fact(core::GenerationSwitched{JobId(2), 7, 120}));
  CHECK(written.erase("unused") == 1);
  const auto read = core::fact_from_json(written);
  REQUIRE(read.ok());
  CHECK_FALSE(std::get<core::GenerationSwitched>(*read).unused);
}

TEST_CASE("A node that an earlier version lost was neither given back nor stopped") {
  auto lost = core::to_json(core::Fact(core::NodeLost{NodeId(3), "no heartbeat", true, true}));
  REQUIRE(lost.erase("given_back") == 1);
  REQUIRE(lost.erase("stopped") == 1);
  const auto read = core::fact_from_json(lost);
  REQUIRE(read.ok());
  CHECK_FALSE(std::get<core::NodeLost>(*read).given_back);
  CHECK_FALSE(std::get<core::NodeLost>(*read).stopped);
}

TEST_CASE("A list of a provider that an earlier version stored does not say when it was begun") {
  auto listed = core::to_json(core::Fact(core::PoolListed{"gpu", 13, {{12, "i-0a1", std::nullopt}}, Instant()}));
  listed.erase("begun_at");
  const auto read = core::fact_from_json(listed);
  REQUIRE(read.ok());
  CHECK_FALSE(std::get<core::PoolListed>(*read).begun_at);
}

TEST_CASE("What earlier versions stored of policy files says that they divide nothing and want no nodes") {
  auto activated =
      core::to_json(core::Fact(core::PolicyActivated{core::PolicyFileRef{"capped", "v", "{}", true, true}}));
  for (const char* later : {"shares", "provisions"}) activated["file"].erase(later);
  const auto file = core::fact_from_json(activated);
  REQUIRE(file.ok());
  CHECK_FALSE(std::get<core::PolicyActivated>(*file).file->shares);
  CHECK_FALSE(std::get<core::PolicyActivated>(*file).file->provisions);
  auto answered = core::to_json(core::Fact(core::PolicyAnswered{full_round()}));
  for (const char* later : {"claims", "pools"}) answered["round"].erase(later);
  const auto round = core::fact_from_json(answered);
  REQUIRE(round.ok());
  CHECK(std::get<core::PolicyAnswered>(*round).round.claims.empty());
  CHECK(std::get<core::PolicyAnswered>(*round).round.pools.empty());

  core::ClusterState state;
  const core::PolicyFileRef ref{"capped", std::string(64, 'a'), "{}"};
  state.deployment = {.active = ref, .earlier = {ref}, .shadow = ref, .since = {}, .answer = full_round()};
  auto written = core::to_json(state);
  REQUIRE(core::digest_of(*core::state_from_json(written)) == core::digest_of(state));
  for (const char* later : {"shares", "provisions"}) {
    for (const char* each : {"active", "shadow"}) written["desk"][each].erase(later);
    written["desk"]["earlier"][0].erase(later);
  }
  for (const char* later : {"claims", "pools"}) written["desk"]["answer"].erase(later);
  for (const char* later : {"pools", "told_at"}) written["desk"].erase(later);
  const auto read = core::state_from_json(written);
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  CHECK(read->deployment.active == ref);
  CHECK(read->deployment.earlier == std::vector{ref});
  CHECK(read->deployment.answer->claims.empty());
  CHECK(read->deployment.pools.empty());
  CHECK_FALSE(read->deployment.told_at);
}

TEST_CASE("An exit of earlier versions with neither code nor signal was taken for one of which nothing was started") {
  const auto read = [](int exit_code, int signal) {
    auto row = core::to_json(core::Fact(core::WorkerExited{WorkerId(4), exit_code, signal, ""}));
    row.erase("nothing_started");
    const auto fact = core::fact_from_json(row);
    REQUIRE(fact.ok());
    return std::get<core::WorkerExited>(*fact).nothing_started;
  };
  CHECK(read(-1, 0));
  CHECK_FALSE(read(-1, 9));
  CHECK_FALSE(read(1, 0));
}

TEST_CASE("A fact with a field missing, a field too many, or a value out of range is refused") {
  for (const auto& fact : one_of_each()) {
    const auto good = core::to_json(fact);
    for (const auto& [name, value] : good.items()) {
      auto missing = good;
      missing.erase(name);
      // Facts of earlier versions lack these.
      const bool is_new =
          (name == "labels" && std::holds_alternative<core::NodeJoined>(fact)) ||
          (name == "begun_at" && std::holds_alternative<core::PoolListed>(fact)) ||
          ((name == "given_back" || name == "stopped") && std::holds_alternative<core::NodeLost>(fact)) ||
          (name == "unused" && std::holds_alternative<core::GenerationSwitched>(fact)) || name == "never_joined" ||
          name == "never_stepped" || name == "nothing_started";
      CHECK(core::fact_from_json(missing).ok() ==
            (name == "data_address" || name == "isolation" || name == "moves_states" || name == "gives_notice" ||
             name == "memory_per_slot" || is_new));
      auto wrong = good;
      wrong[name] = {{"no", {"such"}}};
      CHECK_FALSE(core::fact_from_json(wrong).ok());
    }
    auto more = good;
    more["extra"] = 1;
    CHECK_FALSE(core::fact_from_json(more).ok());
  }
  CHECK_FALSE(core::fact_from_json(nlohmann::json::array()).ok());
  CHECK_FALSE(core::fact_from_json({{"fact", "job_cancel_requested"}, {"job", "w-1"}}).ok());
  CHECK_FALSE(core::fact_from_json({{"fact", "job_resize_requested"}, {"job", "job-1"}, {"size", 5'000'000'000}}).ok());
}

TEST_CASE("A decision reads back as it was written") {
  Story story;
  story.node(8);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 2);
  story.submit({.min = 9, .max = 9});
  story.wish(job, 4);
  story.steps(job, 1);
  const auto decision = story.decide();
  REQUIRE(names_of(decision) == "grow");
  const std::string written = canonical_json(core::to_json(decision));
  const auto read = core::decision_from_json(nlohmann::json::parse(written));
  REQUIRE(read.ok());
  CHECK(canonical_json(core::to_json(*read)) == written);
  auto damaged = core::to_json(decision);
  damaged["plan"][0]["intent"] = "conquer";
  CHECK_FALSE(core::decision_from_json(damaged).ok());
}

TEST_CASE("A state reads back as it was, and one that contradicts itself is refused") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 2);
  story.wish(job, 3);
  story.steps(job, 3);
  story.decide();
  const auto written = core::to_json(story.state());
  const auto read = core::state_from_json(written);
  REQUIRE(read.ok());
  CHECK(core::digest_of(*read) == core::digest_of(story.state()));
  auto released = written;
  released["nodes"][0]["owners"][0] = nullptr;
  CHECK_FALSE(core::state_from_json(released).ok());
  auto twice = written;
  twice["jobs"].push_back(twice["jobs"][0]);
  CHECK_FALSE(core::state_from_json(twice).ok());
  auto unknown = written;
  unknown["jobs"][0]["state"] = "dreaming";
  CHECK_FALSE(core::state_from_json(unknown).ok());
}

TEST_CASE("Reasons have a name each and read back") {
  std::set<std::string_view> names;
  for (const core::Reason& reason : one_reason_of_each()) {
    INFO(core::name_of(reason));
    CHECK(names.insert(core::name_of(reason)).second);
    CHECK(core::reason_from_json(core::to_json(reason)).value() == reason);
  }
}

TEST_CASE("The numbers of reasons that are ids of jobs are known by name") {
  // What a tenant is told leaves these out where the job is another tenant's.
  CHECK(core::job_numbers() ==
        std::set<std::string_view>{"first", "for_job", "holder", "holder_after", "job", "rival"});
  CHECK(core::rival_numbers() == std::set<std::string_view>{"asked", "bar", "rival_worth"});
}

TEST_CASE("Reasons are written as they always were") {
  // As journals of earlier versions hold them; the first one is what a job has of which nothing has been said.
  for (const char* written : {
           R"({"code":"Measuring","numbers":{}})",
           R"({"code":"Measuring","numbers":{"of":20.0,"steps":7.0}})",
           R"({"code":"WaitingForSlots","numbers":{"free":1.0,"needed":4.0}})",
           R"({"code":"WaitingForSlots","numbers":{"cost_s":12.5,"free":0.0,"holder":0.0,"looks":3.0,"movers":2.0,)"
           R"("needed":4.0,"typed":1.0}})",
           R"({"code":"NeverFits","numbers":{"cluster":2.0,"needed":4.0,"typed":1.0}})",
           R"({"code":"WaitsForState","numbers":{"node":3.0,"redo_s":10.200001,"seconds_left":4.2,"step":102.0}})",
           R"({"code":"PriceWait","numbers":{"free":1.0,"needed":2.0,"price":2.5,"rival":3.0,"rival_worth":2.5,)"
           R"("worth":2.0}})",
           R"({"code":"PriceHold","numbers":{"next":0.0,"size":2.0}})",
           R"({"code":"Started","numbers":{"price":0.5,"size":2.0,"worth":1.25}})",
           R"({"code":"Started","numbers":{"bar":3600.0,"own":20.0,"rival":2.0,"size":2.0},"word":"service"})",
           R"({"code":"TurnWait","numbers":{"ahead":2.0,"free":0.0,"needed":4.0,"rival":2.0},"word":"slices"})",
           R"({"code":"TurnWait","numbers":{"free":0.0,"needed":4.0,"own":1.5,"received":0.25,"target":0.5},)"
           R"("word":"time_share"})",
           R"({"code":"MeritHold","numbers":{"asked":0.5,"free":0.0,"goodput":1.5,"merit":0.25,"next":4.0,)"
           R"("next_goodput":1.75,"rival":9.0,"size":2.0},"word":"fitness"})",
           R"({"code":"MeritHold","numbers":{"ends_s":300.0,"size":2.0,"spare_s":-20.0},"word":"promise"})",
           R"({"code":"DeadlineLost","numbers":{"alone_late_s":-1.0,"late_s":-1.0,"needed":4.0}})",
           R"({"code":"DeadlineLost","numbers":{"needed":4.0}})",
           R"({"code":"EfficiencySettled","numbers":{"efficiency":-0.1,"next":3.0,"next_throughput":25100.0,)"
           R"("size":2.0,"threshold":0.1,"throughput":26400.0}})",
           R"({"code":"PriceCap","numbers":{"cap":1.25,"price":2.5}})",
           R"({"code":"NoSlotsToGrow","numbers":{"free":0.0,"queue":1.0,"wanted":2.0}})",
           R"({"code":"StragglerWatched","numbers":{"by_share":0.0,"cost_s":12.0,"follows":2.0,"node":1.0,)"
           R"("node_peers":3.0,"node_slow":2.0,"node_speed":0.0,"score":0.47,"threshold":0.7,"waited_s":10.5,)"
           R"("worker":2.0}})",
           R"({"code":"ResumedByTransfer","numbers":{"node":1.0,"size":2.0,"step":130.0,"to_node":3.0}})",
           R"({"code":"Preempted","numbers":{"for_job":0.0}})",
           R"({"code":"PolicyWord","numbers":{"from":4.0,"most":2.0,"to":2.0},"word":"Capped"})",
       }) {
    INFO(written);
    const auto reason = core::reason_from_json(nlohmann::json::parse(written));
    REQUIRE(reason.ok());
    CHECK(core::to_json(*reason).dump() == written);
  }
}

TEST_CASE("A reason that no version knows is refused, and numbers that it does not have are left out") {
  const auto read = [](const char* text) { return core::reason_from_json(nlohmann::json::parse(text)); };
  CHECK_FALSE(read(R"({"code":"Dreaming","numbers":{}})").ok());
  CHECK_FALSE(read(R"({"code":"TurnWait","numbers":{},"word":"beauty"})").ok());
  CHECK_FALSE(read(R"({"code":"TurnWait"})").ok());
  const auto foreign = read(R"({"code":"AtMax","numbers":{"size":2,"colour":7}})");  // as a policy file could say it
  REQUIRE(foreign.ok());
  CHECK(*foreign == core::Reason(core::reason::AtMax{{.size = 2}}));
}

}  // namespace
}  // namespace tidepool::test
