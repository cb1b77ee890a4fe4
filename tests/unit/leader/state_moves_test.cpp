// How the daemon pairs the agent that waits for a saved state with the one that has it, and when it gives that up.
#include "schedulerd/leader/state_moves.hpp"

#include "core/state/state_move.hpp"
#include "tests/unit/leader/turn_scene.hpp"

namespace tidepool::leader {
namespace {

// Job 1 was suspended at step 1 on node 1, which is closed since; node 2 starts it again, with the state that is to be
// brought there.
struct MoveScene {
  Daemon daemon;
  WorkerId writer{1};

  static api::AgentHello mover(const std::string& name) {
    api::AgentHello hello = hello_of(name);
    hello.moves_states = true;
    return hello;
  }
  MoveScene() {
    core::JobSpec spec = test::job_spec({.min = 1, .max = 1, .preferred = 1});
    spec.run = core::RunSpec{.trainer = "charlm"};
    (void)daemon.take(AgentHelloItem{1, mover("n1")}, command(SubmitJob{spec}));
    (void)daemon.say(writer, api::ReadyMessage{});
    (void)daemon.say(writer, api::SwitchedMessage{.generation = 1});
    api::StepsMessage one = steps();
    one.compute_us = {20'000};
    (void)daemon.say(writer, one);
    (void)daemon.take(command(SuspendJob{JobId(1)}));
    (void)daemon.say(writer, api::ParkedMessage{.generation = 2, .step = 1, .bytes = 4'096});
    (void)daemon.take(WorkerExitedItem{NodeId(1), {.report = 1, .worker = writer, .exit_code = 0}});
    (void)daemon.take(AgentHelloItem{2, mover("n2")}, command(CordonNode{NodeId(1), true}));
  }
  TurnResult resume() { return daemon.take(command(ResumeJob{JobId(1)})); }
  TurnResult say(NodeId node, StateReport report) { return daemon.take(StateReportItem{node, std::move(report)}); }
  TurnResult want(const std::string& key = "sha256:dest") {
    return say(NodeId(2), api::StateWantedReport{.job = JobId(1), .step = 1, .key = key});
  }
  const std::optional<core::StateMove>& moving() const {
    return daemon.turn.state().find_job(JobId(1))->recovery.moving;
  }
};

NodeId receiver_of(const TurnResult& result, std::size_t index) {
  return all<NodeMessage>(result.orders).at(index).node;
}

TEST_CASE("the worker's order names the state that it waits for, and both agents learn what they must know") {
  MoveScene scene;
  const auto resumed = scene.resume();
  REQUIRE(scene.moving());
  CHECK(scene.moving()->from == NodeId(1));
  CHECK(scene.moving()->to == NodeId(2));
  const auto starts = messages<api::StartWorker>(resumed);
  REQUIRE(starts.size() == 1);
  CHECK(starts.front().state_step == 1);

  const auto asked = scene.want();
  const auto offers = messages<api::OfferState>(asked);
  REQUIRE(offers.size() == 1);
  CHECK(receiver_of(asked, 0) == NodeId(1));
  CHECK(offers.front().key == "sha256:dest");
  CHECK(offers.front().step == 1);

  const api::StateOfferedReport offered{offers.front().request, "t", "10.0.0.1", 4'000, "sha256:source"};
  CHECK(messages<api::FetchState>(scene.say(NodeId(2), offered)).empty());  // not the node that was asked
  const auto found = scene.say(NodeId(1), offered);
  const auto fetches = messages<api::FetchState>(found);
  REQUIRE(fetches.size() == 1);
  CHECK(receiver_of(found, 0) == NodeId(2));
  CHECK(fetches.front().ticket == "t");
  CHECK(fetches.front().host == "10.0.0.1");
  CHECK(fetches.front().port == 4'000);
  CHECK(fetches.front().key == "sha256:source");
  CHECK(messages<api::FetchState>(scene.say(NodeId(1), offered)).empty());  // answered once

  const auto brought = scene.say(NodeId(2), api::StateBroughtReport{JobId(1), 1, 4'096, 20});
  CHECK(facts<core::StateBrought>(brought).size() == 1);
  CHECK_FALSE(scene.moving());
  check_nothing(scene.say(NodeId(2), api::StateBroughtReport{JobId(1), 1, 4'096, 20}));  // told again
}

TEST_CASE("of a job the newest request counts: two transfers are never paired") {
  MoveScene scene;
  (void)scene.resume();
  const auto first = messages<api::OfferState>(scene.want());
  const auto second = messages<api::OfferState>(scene.want("sha256:anew"));
  REQUIRE(first.size() == 1);
  REQUIRE(second.size() == 1);
  CHECK(first.front().request != second.front().request);
  const auto late = scene.say(NodeId(1), api::StateOfferedReport{first.front().request, "a", "10.0.0.1", 1, "k"});
  CHECK(messages<api::FetchState>(late).empty());
  const auto due = scene.say(NodeId(1), api::StateOfferedReport{second.front().request, "b", "10.0.0.1", 1, "k"});
  CHECK(messages<api::FetchState>(due).size() == 1);
}

TEST_CASE("an agent that asks for a state that no job on its node waits for is told so for good") {
  MoveScene scene;
  (void)scene.resume();
  for (const auto& [node, job, step] :
       {std::tuple(NodeId(1), JobId(1), 1), std::tuple(NodeId(2), JobId(9), 1), std::tuple(NodeId(2), JobId(1), 7)}) {
    const auto told = messages<api::NoState>(scene.say(node, api::StateWantedReport{job, step, "k"}));
    REQUIRE(told.size() == 1);
    CHECK(told.front().final);
  }
}

TEST_CASE("a source that refuses or is away is told, and may be asked again") {
  MoveScene scene;
  (void)scene.resume();
  const auto offers = messages<api::OfferState>(scene.want());
  REQUIRE(offers.size() == 1);
  const auto refused =
      messages<api::NoState>(scene.say(NodeId(1), api::StateRefusedReport{offers.front().request, "no such file"}));
  REQUIRE(refused.size() == 1);
  CHECK_FALSE(refused.front().final);
  CHECK(refused.front().why.find("no such file") != std::string::npos);
  (void)scene.daemon.take(AgentLostItem{"n1", "silent"});
  const auto away = messages<api::NoState>(scene.want());
  REQUIRE(away.size() == 1);
  CHECK_FALSE(away.front().final);
  CHECK(scene.moving());
}

TEST_CASE("a move that no agent says anything of is given up, also by a daemon that was started anew") {
  MoveScene scene;
  (void)scene.resume();
  const auto due = scene.daemon.turn.next_due();
  REQUIRE(due);
  CHECK(StateMoves(scene.daemon.turn.state()).next_due().has_value());
  scene.daemon.now = scene.daemon.now + core::longest_move(4'096) + Duration::seconds(5);
  const auto result = scene.daemon.take();
  REQUIRE(facts<core::StateLeft>(result).size() == 1);
  const auto told = messages<api::NoState>(result);
  REQUIRE(told.size() == 1);
  CHECK(told.front().final);
  CHECK_FALSE(scene.moving());
}

TEST_CASE("of why a state was left at most 1,024 bytes are kept") {
  MoveScene scene;
  (void)scene.resume();
  const auto left = scene.say(NodeId(2), api::StateLeftReport{JobId(1), 1, std::string(100'000, 'x')});
  const auto found = facts<core::StateLeft>(left);
  REQUIRE(found.size() == 1);
  CHECK(found.front().why == std::string(1'021, 'x') + "…");
}

TEST_CASE("of why a source refuses the other agent hears at most 1,024 bytes") {
  MoveScene scene;
  (void)scene.resume();
  const auto offers = messages<api::OfferState>(scene.want());
  REQUIRE(offers.size() == 1);
  const api::StateRefusedReport refusal{offers.front().request, std::string(1'000'000, 'x')};
  const auto told = messages<api::NoState>(scene.say(NodeId(1), refusal));
  REQUIRE(told.size() == 1);
  CHECK(told.front().why == "node-1 cannot hand it over: " + std::string(1'021, 'x') + "…");
}

}  // namespace
}  // namespace tidepool::leader
