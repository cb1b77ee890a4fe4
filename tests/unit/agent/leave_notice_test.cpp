// Notices to leave: when an agent ends a process that has one, and what a program may write in answer.
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "base/files/whole_file.hpp"
#include "base/json.hpp"
#include "base/utf8.hpp"
#include "tests/support/agent_actions.hpp"
#include "tests/support/agent_bench.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/agent/program_files/notice_files.hpp"

namespace tidepool::agent {
namespace {

const WorkerId kWorker(1);

api::ToWorkerOrder notice(std::int64_t in_ms, std::int64_t extended_ms = 0) {
  return {kWorker, api::NoticeMessage{.decision = DecisionId(7), .in_ms = in_ms, .extended_ms = extended_ms}};
}

struct Noticed : AgentBench {
  Noticed() {
    (void)join();
    (void)order(api::StartWorker{.worker = kWorker, .job = JobId(1), .slots = {0}, .program = "p"});
  }
  // What the worker is told, in milliseconds from now.
  std::int64_t told(const api::ToWorkerOrder& what) {
    const auto sent = all<SendToWorker>(order(what));
    REQUIRE(sent.size() == 1);
    return std::get<api::NoticeMessage>(sent[0].message).in_ms;
  }
  bool kills_after(std::int64_t ms) {
    const auto signals = all<SignalWorker>(pass(Duration::millis(ms)));
    return signals.size() == 1 && signals[0].signal == SIGKILL;
  }
};

}  // namespace

TEST_CASE("time that was granted puts off the end of a process that has been told to stop") {
  Noticed bench;
  CHECK(bench.told(notice(5'000)) == 5'000);
  (void)bench.order(api::StopWorker{.worker = kWorker, .grace_ms = 5'000});
  (void)bench.pass(Duration::millis(1'000));
  CHECK(bench.told(notice(9'000, 5'000)) == 9'000);
  CHECK_FALSE(bench.kills_after(8'999));
  CHECK(bench.kills_after(1));
}

TEST_CASE("a grant that comes before the stop holds for it, and a stop without grace is not put off") {
  Noticed bench;
  (void)bench.told(notice(9'000, 4'000));
  (void)bench.order(api::StopWorker{.worker = kWorker, .grace_ms = 5'000});
  CHECK_FALSE(bench.kills_after(8'999));
  const auto signals = all<SignalWorker>(bench.order(api::StopWorker{.worker = kWorker, .grace_ms = 0}));
  REQUIRE(signals.size() == 1);
  CHECK(signals[0].signal == SIGKILL);
}

TEST_CASE("without a grant a notice puts nothing off, and says when the agent really ends the process") {
  Noticed bench;
  (void)bench.order(api::StopWorker{.worker = kWorker, .grace_ms = 2'000});
  CHECK(bench.told(notice(30'000)) == 2'000);
  CHECK_FALSE(bench.kills_after(1'999));
  CHECK(bench.kills_after(1));
}

TEST_CASE("when a process that was told to end is ended by force is on record, each time that it changes") {
  Noticed bench;
  const auto recorded = [&](const std::vector<Action>& actions) {
    std::vector<std::int64_t> in_ms;
    for (const auto& ending : all<RecordEnding>(actions)) in_ms.push_back((ending.kill_at - bench.now).count_ms());
    return in_ms;
  };
  const auto stop = [](std::int64_t grace_ms) { return api::StopWorker{.worker = kWorker, .grace_ms = grace_ms}; };
  const auto first = bench.order(stop(5'000));
  CHECK(all<SignalWorker>(first).size() == 1);
  CHECK(recorded(first) == std::vector<std::int64_t>{5'000});
  CHECK(recorded(bench.order(stop(9'000))).empty());
  CHECK(recorded(bench.order(stop(2'000))) == std::vector<std::int64_t>{2'000});
  CHECK(recorded(bench.order(notice(9'000))).empty());
  CHECK(recorded(bench.order(notice(7'000, 5'000))) == std::vector<std::int64_t>{7'000});
  CHECK(recorded(bench.order(notice(7'000, 5'000))).empty());
}

TEST_CASE("an agent that comes after ends a process that was told to end when the earlier one would have") {
  RecordedWorkers history;
  history.started = {kWorker};
  AgentBench bench(history);
  (void)bench.tell(EndingAdopted{kWorker, bench.now + Duration::seconds(5)});
  (void)bench.join();  // 3 s later
  const auto told_again = bench.order(api::StopWorker{.worker = kWorker, .grace_ms = 30'000});
  CHECK(all<SignalWorker>(told_again).empty());
  CHECK(all<SignalWorker>(bench.pass(Duration::millis(1'999))).empty());
  const auto signals = all<SignalWorker>(bench.pass(Duration::millis(1)));
  REQUIRE(signals.size() == 1);
  CHECK(signals[0].signal == SIGKILL);
}

TEST_CASE(
    "a process that is overdue when an agent comes after is ended once a daemon could have granted it more time") {
  const auto adopt = [](AgentBench& bench) {
    (void)bench.tell(EndingAdopted{kWorker, bench.now - Duration::seconds(1)});
    CHECK(all<SignalWorker>(bench.pass(Duration::millis(1'999))).empty());
  };
  RecordedWorkers history;
  history.started = {kWorker};
  AgentBench alone(history);
  adopt(alone);
  CHECK(all<SignalWorker>(alone.pass(Duration::millis(1))).size() == 1);
  AgentBench told(history);
  adopt(told);
  (void)told.tell(LinkOpened{});
  (void)told.order(api::AgentWelcome{.node = NodeId(1), .cluster = "here"});
  (void)told.order(notice(9'000, 20'000));
  CHECK(all<SignalWorker>(told.pass(Duration::millis(8'999))).empty());
  CHECK(all<SignalWorker>(told.pass(Duration::millis(1))).size() == 1);
}

TEST_CASE("a program that is done is ended at once if it has been told to end, and not otherwise") {
  Noticed bench;
  const WorkerMessageReceived done{kWorker,
                                   api::AnswerMessage{.decision = DecisionId(7), .answer = api::NoticeAnswer::kDone}};
  CHECK(all<SignalWorker>(bench.tell(done)).empty());
  (void)bench.order(api::StopWorker{.worker = kWorker, .grace_ms = 2'000});
  const auto actions = bench.tell(done);
  REQUIRE(all<SignalWorker>(actions).size() == 1);
  CHECK(all<SignalWorker>(actions)[0].signal == SIGKILL);
  CHECK(told<api::FromWorkerReport>(actions).size() == 1);
}

TEST_CASE("an answer is one line that says what it means, or it is refused in words") {
  const auto until = answer_of_line(R"({"answer":"until","until_unix_ms":1700000000000})");
  REQUIRE(until.ok());
  CHECK(until->answer == api::NoticeAnswer::kUntil);
  CHECK(until->until_unix_ms == 1'700'000'000'000);
  CHECK(answer_of_line(R"({"answer":"saving"})").value().answer == api::NoticeAnswer::kSaving);
  CHECK(answer_of_line(R"({"answer":"refuse"})").value().answer == api::NoticeAnswer::kRefuse);
  for (const char* wrong : {"", "done", "[]", R"({"answer":"maybe"})", R"({"answer":"until"})", R"({})",
                            R"({"answer":"until","until_unix_ms":"soon"})", R"({"answer":"done","more":1})",
                            R"({"answer":"until","until_unix_ms":0})"}) {
    INFO(wrong);
    CHECK_FALSE(answer_of_line(wrong).ok());
  }
}

TEST_CASE("an answer that is none is told in few bytes, with what to write") {
  boost::asio::io_context io;
  test::TemporaryFolder folder;
  std::vector<std::string> troubles;
  NoticeFiles files(io, {.on_answer = [](WorkerId, const api::AnswerMessage&) { FAIL("it is no answer"); },
                         .on_bad_answer = [&](WorkerId, const std::string& what) { troubles.push_back(what); },
                         .on_trouble = [](WorkerId, const std::string&) { FAIL("the notice is written"); }});
  files.tell(kWorker, folder.path(), {.decision = DecisionId(7), .reason = "Preempted", .in_ms = 1'000});
  std::string letters;
  while (letters.size() < 3'000) letters += "ä";
  std::ofstream(NoticeFiles::answer_in(folder.path())) << R"({"answer":"done",")" + letters + "\":1}\n";
  REQUIRE(io.run_one_for(std::chrono::seconds(20)) == 1);
  REQUIRE(troubles.size() == 1);
  CHECK(troubles[0].size() < 400);
  const std::size_t end = troubles[0].find(R"(; write a line such as {"answer": "saving"})");
  REQUIRE(end != std::string::npos);
  CHECK(whole_utf8_length(troubles[0].substr(0, end)) == end);  // no letter is cut in two
}

TEST_CASE("the newest whole line of the answer file counts once, and a newer notice begins anew") {
  boost::asio::io_context io;
  test::TemporaryFolder folder;
  std::vector<api::AnswerMessage> said;
  NoticeFiles files(io, {.on_answer = [&](WorkerId, const api::AnswerMessage& answer) { said.push_back(answer); },
                         .on_bad_answer = [](WorkerId, const std::string&) {},
                         .on_trouble = [](WorkerId, const std::string&) {}});
  const auto write = [&](const std::string& text) {
    std::ofstream(NoticeFiles::answer_in(folder.path()), std::ios::app) << text;
  };
  const auto look = [&] { io.run_one_for(std::chrono::seconds(20)); };
  files.tell(kWorker, folder.path(), {.decision = DecisionId(7), .reason = "Preempted", .in_ms = 1'000, .answers = 3});
  const auto told = parse_json(read_whole_file(NoticeFiles::notice_in(folder.path())).value()).value();
  CHECK(told.at("reason") == "Preempted");
  CHECK(told.at("decision") == "dec-7");
  write("{\"answer\":\"saving\"}\n{\"answer\":\"done\"}\n{\"answer\":");
  look();
  REQUIRE(said.size() == 1);
  CHECK(said[0].answer == api::NoticeAnswer::kDone);
  CHECK(said[0].number == 4);
  look();
  CHECK(said.size() == 1);
  write("\"refuse\"}\n");
  look();
  REQUIRE(said.size() == 2);
  CHECK(said[1].number == 5);
  files.tell(kWorker, folder.path(), {.decision = DecisionId(8), .reason = "Preempted", .in_ms = 1'000});
  look();
  CHECK(said.size() == 2);
  write("{\"answer\":\"refuse\"}\n");
  look();
  REQUIRE(said.size() == 3);
  CHECK(said[2].decision == DecisionId(8));
  CHECK(said[2].number == 1);
  // Written while the agent was started anew: the next one is told of the same notice.
  write("{\"answer\":\"saving\"}\n");
  NoticeFiles next(io, {.on_answer = [&](WorkerId, const api::AnswerMessage& answer) { said.push_back(answer); },
                        .on_bad_answer = [](WorkerId, const std::string&) {},
                        .on_trouble = [](WorkerId, const std::string&) {}});
  files.forget(WorkerId(2), folder / "other");
  next.tell(kWorker, folder.path(), {.decision = DecisionId(8), .reason = "Preempted", .in_ms = 900, .answers = 1});
  while (said.size() < 4) REQUIRE(io.run_one_for(std::chrono::seconds(20)) == 1);
  CHECK(said[3].answer == api::NoticeAnswer::kSaving);
  files.forget(kWorker, folder.path());
  CHECK_FALSE(std::filesystem::exists(NoticeFiles::notice_in(folder.path())));
  CHECK_FALSE(std::filesystem::exists(NoticeFiles::answer_in(folder.path())));
}

}  // namespace tidepool::agent
