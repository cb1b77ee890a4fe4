#include "schedulerd/leader/executor.hpp"
#include "schedulerd/leader/start_order.hpp"

#include <catch2/catch.hpp>

namespace tidepool::leader {
namespace {

// One node, one job with two members and a leaving worker, in generation 3.
core::ClusterState small_world() {
  core::ClusterState state;
  state.nodes[NodeId(1)] = {.id = NodeId(1),
                            .name = "local",
                            .slot_type = "cpu",
                            .owners = {WorkerId(1), WorkerId(2), WorkerId(3), WorkerId(4)}};
  core::Job job;
  job.id = JobId(1);
  job.phase = core::phase::Running{};
  job.spec.run = core::RunSpec{.trainer = "charlm", .env = {{"A", "b"}}, .workdir = "/data"};
  job.membership.generation = 3;
  job.membership.members = {WorkerId(1), WorkerId(2)};
  job.membership.workers = {WorkerId(1), WorkerId(2), WorkerId(3), WorkerId(4)};
  for (const auto& [number, phase] :
       {std::pair{1U, core::WorkerPhase::kMember}, std::pair{2U, core::WorkerPhase::kMember},
        std::pair{3U, core::WorkerPhase::kLeaving}, std::pair{4U, core::WorkerPhase::kStarting}}) {
    state.workers[WorkerId(number)] = {.id = WorkerId(number),
                                       .job = JobId(1),
                                       .node = NodeId(1),
                                       .slots = {static_cast<int>(number) - 1},
                                       .phase = phase};
  }
  state.jobs[JobId(1)] = std::make_shared<core::Job>(job);
  return state;
}

template <class Message>
std::vector<Message> of_kind(const std::vector<NodeOrder>& orders) {
  std::vector<Message> found;
  for (const NodeOrder& order : orders) {
    if (const auto* message = std::get_if<Message>(&order.order)) found.push_back(*message);
  }
  return found;
}

void append(std::vector<NodeOrder> more, std::vector<NodeOrder>& orders) {
  std::move(more.begin(), more.end(), std::back_inserter(orders));
}

}  // namespace

TEST_CASE("an order that is longer than a line is none, and is told") {
  const auto state = small_world();
  core::ClusterState large = state;
  core::Job& job = large.mutable_job(JobId(1));
  core::RunSpec run = *job.spec.run;
  run.trainer.clear();
  run.command = {"/bin/true"};
  job.spec.run = run;
  CHECK(write_message(StartOrder{WorkerId(4)}, large).ok());
  run.command.emplace_back(600'000, 'x');  // a journal of an earlier version may have it
  job.spec.run = run;
  const auto order = write_message(StartOrder{WorkerId(4)}, large);
  REQUIRE_FALSE(order.ok());
  CHECK(order.error().message.starts_with("w-4: the order that starts it is longer than the 1048576 bytes"));
  api::AddressesMessage addresses{.generation = 1, .blobs = std::vector<std::string>(8, std::string(100'000, 'x'))};
  CHECK_FALSE(write_message(api::ToWorkerOrder{WorkerId(1), addresses}, state).ok());
  addresses.blobs.resize(7);
  CHECK(write_message(api::ToWorkerOrder{WorkerId(1), addresses}, state).ok());
}

TEST_CASE("a trainer is started as tidepool-trainer with its name") {
  const auto state = small_world();
  const auto order = start_order(state.workers.at(WorkerId(4)), *state.find_job(JobId(1)), state.nodes.at(NodeId(1)));
  REQUIRE(order.ok());
  CHECK(order->program == "tidepool-trainer");
  CHECK(order->argv == std::vector<std::string>{"charlm"});
  CHECK(order->env.at("A") == "b");
  CHECK(order->workdir == "/data");
  CHECK(order->slots == std::vector<int>{3});
  CHECK_FALSE(order->gpus);
}

TEST_CASE("orders to a node never name a longer grace than agents take, whatever a job in the journal says") {
  core::ClusterState state = small_world();
  core::Job patient = *state.find_job(JobId(1));
  patient.spec.elastic.grace = Duration::seconds(1'000 * 3600);
  patient.spec.resize = core::ResizeMode::kRestart;
  const auto order = start_order(state.workers.at(WorkerId(4)), patient, state.nodes.at(NodeId(1)));
  REQUIRE(order.ok());
  CHECK(order->restart_grace_ms == api::kGraceMax.count_ms());
  const core::Decision decision{
      .plan = {{core::StopWorkerIntent{.worker = WorkerId(3), .grace = patient.spec.elastic.grace}, {}}}};
  Executor executor;
  const auto stops = of_kind<api::StopWorker>(executor.carry_out(decision, state).orders);
  REQUIRE(stops.size() == 1);
  CHECK(stops[0].grace_ms == api::kGraceMax.count_ms());
}

TEST_CASE("the CPUs that a job asks for are in the order that starts its worker") {
  auto state = small_world();
  const auto order_for = [&](std::optional<int> cpus) {
    state.mutable_job(JobId(1)).spec.cpus = cpus;
    return start_order(state.workers.at(WorkerId(4)), *state.find_job(JobId(1)), state.nodes.at(NodeId(1))).value();
  };
  CHECK(order_for(3).cpus == 3);
  CHECK_FALSE(order_for(std::nullopt).cpus);
}

TEST_CASE("the memory that a job asks for is in the order, if the agent is one that knows of memory") {
  auto state = small_world();
  state.mutable_job(JobId(1)).spec.memory = std::int64_t{64} << 20U;
  const auto order = [&] {
    return start_order(state.workers.at(WorkerId(4)), *state.find_job(JobId(1)), state.nodes.at(NodeId(1))).value();
  };
  CHECK_FALSE(order().memory);
  state.nodes[NodeId(1)].memory_per_slot = 0;
  CHECK(order().memory == std::int64_t{64} << 20U);
  state.mutable_job(JobId(1)).spec.memory.reset();
  CHECK_FALSE(order().memory);
}

TEST_CASE("a command is started as it is written") {
  auto state = small_world();
  state.mutable_job(JobId(1)).spec.run = core::RunSpec{.command = {"python3", "train.py"}};
  const auto order = start_order(state.workers.at(WorkerId(4)), *state.find_job(JobId(1)), state.nodes.at(NodeId(1)));
  REQUIRE(order.ok());
  CHECK(order->program == "python3");
  CHECK(order->argv == std::vector<std::string>{"train.py"});
}

TEST_CASE("a switch is told to members and leaving workers, never to a joining worker that is not in it") {
  const auto state = small_world();
  Executor executor;
  core::Decision decision;
  decision.plan.push_back({core::SwitchIntent{JobId(1), 3, {WorkerId(1), WorkerId(2)}, true}, {}});
  const auto effects = executor.carry_out(decision, state);
  std::vector<WorkerId> told;
  for (const auto& order : of_kind<api::ToWorkerOrder>(effects.orders)) {
    told.push_back(order.worker);
    CHECK(std::get<api::GenerationMessage>(order.message).after_failure);
  }
  CHECK(told == std::vector{WorkerId(1), WorkerId(2), WorkerId(3)});
}

TEST_CASE("a notice is told before the generation by which its worker leaves, and only where agents know it") {
  auto state = small_world();
  state.nodes[NodeId(1)].gives_notice = true;
  core::LeaveNotice notice{.decision = DecisionId(5), .reason = core::reason::SuspendedByUser{}};
  notice.due = Instant::from_micros(30'000'000);
  notice.by = Instant::from_micros(40'000'000);
  for (const std::uint64_t leaving_worker : {2U, 3U}) state.workers[WorkerId(leaving_worker)].notice = notice;
  state.workers[WorkerId(4)].notice = core::LeaveNotice{.decision = DecisionId(4), .reason = {}};
  core::Decision decision{.id = DecisionId(5), .at = Instant::from_micros(10'000'000)};
  decision.plan.push_back({core::SwitchIntent{JobId(1), 3, {WorkerId(1)}, false}, {}});
  const auto told = [&] {
    Executor executor;
    std::vector<WorkerId> workers;
    bool notices_over = false;
    for (const auto& order : of_kind<api::ToWorkerOrder>(executor.carry_out(decision, state).orders)) {
      const auto* message = std::get_if<api::NoticeMessage>(&order.message);
      CHECK_FALSE((message != nullptr && notices_over));
      notices_over = message == nullptr;
      if (message == nullptr) continue;
      workers.push_back(order.worker);
      CHECK(message->reason == "SuspendedByUser");
      CHECK(message->in_ms == 30'000);
      CHECK(message->extended_ms == 10'000);
    }
    return workers;
  };
  CHECK(told() == std::vector{WorkerId(2), WorkerId(3)});
  state.now = Instant::from_micros(39'000'000);
  const auto answered = of_kind<api::ToWorkerOrder>(Executor::on_answer(WorkerId(3), state));
  REQUIRE(answered.size() == 2);
  CHECK(std::get<api::NoticeMessage>(answered[0].message).in_ms == 1'000);
  CHECK(Executor::on_answer(WorkerId(1), state).empty());
  state.nodes[NodeId(1)].gives_notice = false;
  CHECK(told().empty());
}

TEST_CASE("a notice names the job that its worker makes room for only to jobs of the same tenant") {
  auto state = small_world();
  state.nodes[NodeId(1)].gives_notice = true;
  core::Job rival = *state.find_job(JobId(1));
  rival.id = JobId(12);
  rival.membership = {};
  const auto with_claimants = [&](const std::string& tenant) {
    rival.spec.tenant = tenant;
    state.jobs[JobId(12)] = std::make_shared<core::Job>(rival);
    state.workers[WorkerId(3)].notice =
        core::LeaveNotice{.decision = DecisionId(5), .reason = core::reason::Preempted{.for_job = JobId(12)}};
    const auto orders = of_kind<api::ToWorkerOrder>(Executor::on_answer(WorkerId(3), state));
    REQUIRE(orders.size() == 1);
    return std::get<api::NoticeMessage>(orders[0].message).sentence;
  };
  CHECK(with_claimants(state.find_job(JobId(1))->spec.tenant) == "preempted for job-12");
  CHECK(with_claimants("speech") == "preempted for a job of another tenant");
}

TEST_CASE("after a reconnect unknown workers are killed, starts and the newest generation are said again") {
  auto state = small_world();
  state.nodes[NodeId(2)] = {.id = NodeId(2), .name = "other", .slot_type = "cpu", .owners = {WorkerId(5)}};
  state.workers[WorkerId(5)] = {.id = WorkerId(5), .job = JobId(1), .node = NodeId(2), .slots = {0}};
  const Executor executor;
  const auto orders = executor.catch_up(NodeId(1), {WorkerId(1), WorkerId(9)}, state);
  std::vector<NodeOrder> items;
  for (const auto& order : orders) items.push_back({NodeId(1), order});
  const auto stops = of_kind<api::StopWorker>(items);
  REQUIRE(stops.size() == 1);
  CHECK(stops[0].worker == WorkerId(9));
  CHECK(stops[0].grace_ms == 0);
  const auto starts = of_kind<StartOrder>(items);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].worker == WorkerId(4));
  CHECK(of_kind<api::ToWorkerOrder>(items).size() == 3);
}

TEST_CASE("addresses go to all members when the last one is in, and to a member whose link is back") {
  const auto state = small_world();
  Executor executor;
  std::vector<NodeOrder> orders;
  append(executor.on_address(WorkerId(1), {3, 0, "a"}, state), orders);
  append(executor.on_address(WorkerId(2), {3, 0, "wrong rank"}, state), orders);
  append(executor.on_address(WorkerId(2), {2, 1, "old generation"}, state), orders);
  CHECK(orders.empty());
  append(executor.on_address(WorkerId(2), {3, 1, "b"}, state), orders);
  REQUIRE(of_kind<api::ToWorkerOrder>(orders).size() == 2);
  orders.clear();
  append(executor.on_relink(WorkerId(1), 2, state), orders);
  const auto again = of_kind<api::ToWorkerOrder>(orders);
  REQUIRE(again.size() == 2);
  CHECK(std::get<api::GenerationMessage>(again[0].message).number == 3);
  CHECK(std::get<api::AddressesMessage>(again[1].message).blobs == std::vector<std::string>{"a", "b"});
}

TEST_CASE("shares go to all members, with a generation that begins with them, and again to one that is back") {
  core::ClusterState state = small_world();
  core::Job job = *state.find_job(JobId(1));
  job.shares.ordered = {.number = 2, .weights = {1'000, 600}};
  state.jobs[JobId(1)] = std::make_shared<core::Job>(job);
  const auto tables = [](const std::vector<NodeOrder>& orders) {
    std::vector<std::string> told;
    for (const auto& order : of_kind<api::ToWorkerOrder>(orders)) {
      const auto* shares = std::get_if<api::SharesMessage>(&order.message);
      if (shares == nullptr) continue;
      CHECK(shares->generation == 3);
      CHECK(shares->number == 2);
      CHECK(shares->weights == std::vector<std::int64_t>{1'000, 600});
      told.push_back(order.worker.text());
    }
    return told;
  };
  Executor executor;
  core::Decision decision;
  decision.plan.push_back({core::RebalanceIntent{.job = JobId(1)}, {}});
  CHECK(tables(executor.carry_out(decision, state).orders) == std::vector<std::string>{"w-1", "w-2"});
  decision.plan = {{core::SwitchIntent{JobId(1), 3, job.membership.members, false}, {}}};
  CHECK(tables(executor.carry_out(decision, state).orders) == std::vector<std::string>{"w-1", "w-2"});
  std::vector<NodeOrder> orders;
  append(executor.on_relink(WorkerId(2), 3, state), orders);
  CHECK(tables(orders) == std::vector<std::string>{"w-2"});
  orders.clear();
  append(executor.on_relink(WorkerId(3), 3, state), orders);  // leaves
  CHECK(tables(orders).empty());
  for (auto& message : executor.catch_up(NodeId(1), {}, state)) orders.push_back({NodeId(1), message});
  CHECK(tables(orders) == std::vector<std::string>{"w-1", "w-2"});
}

}  // namespace tidepool::leader
