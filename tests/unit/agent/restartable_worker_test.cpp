#include "workers/agent/state/restartable_worker.hpp"

#include <catch2/catch.hpp>
#include <csignal>

#include "tests/support/agent_actions.hpp"
#include "tests/support/agent_bench.hpp"
#include "workers/agent/torchrun.hpp"

// The agent speaks for a program that knows nothing of generations.
namespace tidepool::agent {
namespace {

const WorkerId kW1(1);
const WorkerId kW2(2);

api::StartWorker order_of(WorkerId worker) {
  return {.worker = worker, .job = JobId(1), .slots = {0}, .program = "p", .restart_grace_ms = 4'000};
}
api::GenerationMessage generation(GenerationNumber number, std::vector<WorkerId> members) {
  return {.number = number, .members = std::move(members)};
}
api::AddressesMessage addresses(GenerationNumber number) {
  return {.generation = number, .blobs = {"a", "b"}};
}

// The steps by name: "offer 2 1" is the address of rank 1 in generation 2.
std::string text_of(const RestartableWorker::Steps& steps) {
  std::string text;
  for (const auto& step : steps) {
    if (!text.empty()) text += ", ";
    if (const auto* said = std::get_if<RestartableWorker::SendMessage>(&step)) {
      if (std::holds_alternative<api::ReadyMessage>(said->message)) text += "ready";
      if (std::holds_alternative<api::StartedMessage>(said->message)) text += "started";
      if (const auto* ended = std::get_if<api::EndedMessage>(&said->message)) {
        text += "ended " + std::to_string(ended->generation) + " with " + std::to_string(ended->exit_code);
      }
    } else if (const auto* offer = std::get_if<RestartableWorker::OfferAddress>(&step)) {
      text += "offer " + std::to_string(offer->generation) + " " + std::to_string(offer->rank);
    } else if (const auto* start = std::get_if<RestartableWorker::StartProgram>(&step)) {
      text += "start " + std::to_string(start->generation) + " " + std::to_string(start->rank);
    } else {
      text += std::holds_alternative<RestartableWorker::EndProgram>(step) ? "end" : "leave";
    }
  }
  return text;
}

// A restartable worker whose program runs as rank 0 of two in generation 1.
RestartableWorker running() {
  RestartableWorker restartable(order_of(kW1));
  CHECK(text_of(restartable.resend()) == "ready");
  CHECK(text_of(restartable.on_message(generation(1, {kW1, kW2}))) == "offer 1 0");
  CHECK(text_of(restartable.on_message(addresses(1))) == "start 1 0, started");
  return restartable;
}

}  // namespace

TEST_CASE("a restartable worker offers its address only when the program of the generation before has ended") {
  RestartableWorker restartable = running();
  CHECK(text_of(restartable.on_message(generation(2, {kW2, kW1}))) == "end");
  CHECK(text_of(restartable.on_message(addresses(2))).empty());
  CHECK(text_of(restartable.on_message(generation(3, {kW2, kW1}))).empty());  // it has been told to end already
  CHECK(text_of(restartable.program_ended(0, 0, "")) == "offer 3 1");
  CHECK(text_of(restartable.on_message(addresses(2))).empty());
  CHECK(text_of(restartable.on_message(addresses(3))) == "start 3 1, started");
  CHECK(text_of(restartable.on_message(addresses(3))).empty());
  CHECK(text_of(restartable.on_message(generation(3, {kW2, kW1}))).empty());
}

TEST_CASE("a program that ends by itself is told of, and its worker waits for the next generation") {
  RestartableWorker restartable = running();
  CHECK(text_of(restartable.program_ended(7, 0, "bye")) == "ended 1 with 7");
  CHECK(text_of(restartable.resend()) == "offer 1 0, started, ended 1 with 7");
  CHECK(text_of(restartable.on_message(addresses(1))).empty());  // said twice; it is over
  CHECK(text_of(restartable.on_message(generation(2, {kW1}))) == "offer 2 0");
}

TEST_CASE("a restartable worker that is not in the generation leaves, with or without a program") {
  RestartableWorker restartable = running();
  CHECK(text_of(restartable.on_message(generation(2, {kW2}))) == "end");
  CHECK(text_of(restartable.program_ended(0, 0, "")) == "leave");
  RestartableWorker idle(order_of(kW1));
  CHECK(text_of(idle.on_message({api::GenerationMessage{.number = 1, .park = true}})) == "leave");
}

TEST_CASE("a program that was killed because it did not end for a newer generation is told, once and as of its own") {
  RestartableWorker restartable = running();
  CHECK(text_of(restartable.on_message(generation(2, {kW2, kW1}))) == "end");
  CHECK(text_of(restartable.on_message(generation(3, {kW2, kW1}))).empty());
  CHECK(text_of(restartable.program_ended(-1, SIGKILL, "late")) == "ended 1 with -1, offer 3 1");
  CHECK(text_of(restartable.resend()) == "offer 3 1");
  CHECK(text_of(restartable.on_message(addresses(3))) == "start 3 1, started");
  CHECK(text_of(restartable.program_ended(7, 0, "")) == "ended 3 with 7");
  // The exit of a worker that leaves says it.
  RestartableWorker leaving = running();
  CHECK(text_of(leaving.on_message(generation(2, {kW2}))) == "end");
  CHECK(text_of(leaving.program_ended(-1, SIGKILL, "late")) == "leave");
}

TEST_CASE("a program that could not be started is an end like any other, and a stop is final") {
  RestartableWorker restartable = running();
  CHECK(text_of(restartable.program_ended(2, 0, "no such program")) == "ended 1 with 2");
  CHECK(text_of(restartable.stop()) == "leave");
  RestartableWorker other = running();
  CHECK(text_of(other.stop()).empty());
  CHECK(text_of(other.on_message(generation(2, {kW1}))).empty());
  CHECK(text_of(other.program_ended(-1, SIGTERM, "")) == "leave");
}

TEST_CASE("a restartable worker whose program left something behind leaves when that is gone") {
  AgentBench bench;
  (void)bench.join();
  (void)bench.order(order_of(kW1));
  (void)bench.order(api::ToWorkerOrder{kW1, generation(1, {kW1})});
  REQUIRE(all<SpawnProgram>(bench.order(api::ToWorkerOrder{kW1, addresses(1)})).size() == 1);
  const WorkerEnded ended{.worker = kW1, .signal = SIGKILL};
  (void)bench.tell(SlotsStillHeld{ended, "processes of it live on", Duration::seconds(5)});
  const auto exits = all<RecordExit>(bench.tell(ended));
  REQUIRE(exits.size() == 1);
  CHECK(to_text(exits[0]) == kW1.text() + " ended: exit code -1, signal 9, \"\"");
  CHECK_FALSE(bench.state.lives(kW1));
}

TEST_CASE("a restartable worker whose agent can start no program leaves, and its exit says that nothing was started") {
  AgentBench bench;
  (void)bench.join();
  (void)bench.order(order_of(kW1));
  (void)bench.order(api::ToWorkerOrder{kW1, generation(1, {kW1})});
  REQUIRE(all<SpawnProgram>(bench.order(api::ToWorkerOrder{kW1, addresses(1)})).size() == 1);
  const auto exits =
      all<RecordExit>(bench.tell(WorkerEnded{.worker = kW1, .detail = "no room", .nothing_started = true}));
  REQUIRE(exits.size() == 1);
  CHECK(exits[0].report.exit_code == -1);
  CHECK(exits[0].report.signal == 0);
  CHECK(exits[0].report.detail == "no room");
  CHECK(exits[0].report.nothing_started == true);
  CHECK_FALSE(bench.state.lives(kW1));
}

TEST_CASE(
    "an agent stops a restartable worker's program with the grace of its order and reports its exit when it leaves") {
  AgentBench bench;
  (void)bench.join();
  CHECK(all<SpawnWorker>(bench.order(order_of(kW1))).empty());
  CHECK(all<OfferProgramAddress>(bench.order(api::ToWorkerOrder{kW1, generation(1, {kW1})})).size() == 1);
  CHECK(all<SpawnProgram>(bench.order(api::ToWorkerOrder{kW1, addresses(1)})).size() == 1);
  const auto ending = all<SignalWorker>(bench.order(api::ToWorkerOrder{kW1, generation(2, {kW1})}));
  REQUIRE(ending.size() == 1);
  CHECK(ending[0].signal == SIGTERM);
  CHECK(all<SignalWorker>(bench.pass(Duration::millis(3'999))).empty());
  const auto killing = all<SignalWorker>(bench.pass(Duration::millis(1)));
  REQUIRE(killing.size() == 1);
  CHECK(killing[0].signal == SIGKILL);
  const auto ended = bench.tell(WorkerEnded{.worker = kW1, .signal = SIGKILL});
  CHECK(all<RecordExit>(ended).empty());  // the restartable worker stays
  CHECK(all<OfferProgramAddress>(ended).size() == 1);
  CHECK(bench.state.lives(kW1));
  const auto left = bench.order(api::StopWorker{.worker = kW1, .grace_ms = 1'000});
  REQUIRE(all<RecordExit>(left).size() == 1);
  CHECK(all<RecordExit>(left)[0].report.exit_code == 0);
  CHECK(to_text(all<RecordExit>(left)[0]) == kW1.text() + " has left its slots; no program of it was running");
  CHECK_FALSE(bench.state.lives(kW1));
}

TEST_CASE("that a program of before was killed while no daemon listened is told to the next one, once") {
  AgentBench bench;
  (void)bench.join();
  (void)bench.order(order_of(kW1));
  (void)bench.order(api::ToWorkerOrder{kW1, generation(1, {kW1})});
  (void)bench.order(api::ToWorkerOrder{kW1, addresses(1)});
  (void)bench.order(api::ToWorkerOrder{kW1, generation(2, {kW1})});
  (void)bench.tell(LinkClosed{"gone"});
  (void)bench.tell(WorkerEnded{.worker = kW1, .signal = SIGKILL});
  const auto ends_told = [&] {
    int told = 0;
    for (const SendToDaemon& sent : all<SendToDaemon>(bench.join())) {
      const auto* report = std::get_if<api::FromWorkerReport>(&sent.message);
      const auto* ended = report == nullptr ? nullptr : std::get_if<api::EndedMessage>(&report->message);
      told += ended != nullptr && ended->generation == 1 ? 1 : 0;
    }
    return told;
  };
  CHECK(ends_told() == 1);
  (void)bench.tell(LinkClosed{"gone"});
  CHECK(ends_told() == 0);
}

TEST_CASE("each rank finds torchrun's environment around it") {
  const std::vector<std::string> blobs = {to_blob({.node = "a", .host = "10.0.0.1", .port = 20'001, .slots = {3}}),
                                          to_blob({.node = "b", .host = "10.0.0.2", .slots = {0}}),
                                          to_blob({.node = "a", .host = "10.0.0.1", .slots = {1}})};
  const auto third = surroundings_of({.generation = 5, .rank = 2, .blobs = blobs});
  REQUIRE(third.ok());
  CHECK(third->slots == std::vector{3, 1});
  const auto& env = third->environment;
  CHECK(env.at("RANK") == "2");
  CHECK(env.at("WORLD_SIZE") == "3");
  CHECK(env.at("LOCAL_RANK") == "1");
  CHECK(env.at("LOCAL_WORLD_SIZE") == "2");
  CHECK(env.at("GROUP_RANK") == "0");
  CHECK(env.at("GROUP_WORLD_SIZE") == "2");
  CHECK(env.at("MASTER_ADDR") == "10.0.0.1");
  CHECK(env.at("MASTER_PORT") == "20001");
  CHECK(env.at("TORCHELASTIC_RESTART_COUNT") == "4");
  const auto second = surroundings_of({.generation = 5, .rank = 1, .blobs = blobs});
  REQUIRE(second.ok());
  CHECK(second->environment.at("LOCAL_RANK") == "0");
  CHECK(second->environment.at("GROUP_RANK") == "1");
}

TEST_CASE("a rank 0 that only its own node can reach is refused in words, and so is a damaged address") {
  const std::vector<std::string> blobs = {to_blob({.node = "a", .host = "127.0.0.1", .port = 20'001}),
                                          to_blob({.node = "b", .host = "10.0.0.2"})};
  const auto away = surroundings_of({.rank = 1, .blobs = blobs});
  REQUIRE_FALSE(away.ok());
  CHECK(away.error().message.find("--daemon HOST:PORT") != std::string::npos);
  CHECK_FALSE(surroundings_of({.rank = 0, .blobs = {"{}"}}).ok());
  CHECK_FALSE(address_of_blob(R"({"node":"a","host":"h","port":1,"slots":[-1]})").ok());
}

TEST_CASE("a reserved port is given to no other worker until it is let go") {
  auto first = ReservedPort::take(17);
  REQUIRE(first.ok());
  CHECK(first->number() >= 20'000);
  CHECK(first->number() < 32'000);
  const auto second = ReservedPort::take(17);
  REQUIRE(second.ok());
  CHECK(second->number() != first->number());
}

}  // namespace tidepool::agent
