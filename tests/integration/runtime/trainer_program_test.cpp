// The program that an agent starts: its exit codes, its words, and a whole job with a death in it.
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_leader.hpp"

namespace tidepool::test {
namespace {

namespace fs = std::filesystem;

std::string trainer() {
  const char* folder = std::getenv("TIDEPOOL_BIN_DIR");
  return std::string(folder == nullptr ? "bin" : folder) + "/tidepool-trainer";
}

struct Folder : TemporaryFolder {
  void write(const std::string& name, const std::string& content) const { std::ofstream(path() / name) << content; }
};

struct Outcome {
  int code = -1;
  std::string output;
};

Outcome run_in(const Folder& folder, const std::string& arguments, const std::string& environment = "") {
  const std::string command =
      "cd " + folder.path().string() + " && " + environment + " " + trainer() + " " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  std::array<char, 4'096> bytes{};
  while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
    outcome.output.append(bytes.data(), count);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::string verse() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the tide comes in, the tide goes out, the pool stays where it is.\n";
  return text;
}

bool has(const Outcome& outcome, const std::string& words) {
  return outcome.output.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("by hand it trains alone and says how far it is") {
  const Folder folder;
  folder.write("verse.txt", verse());
  const Outcome outcome = run_in(folder, "charlm --data verse.txt --steps 30 --hidden 16 --batch 64");
  INFO(outcome.output);
  CHECK(outcome.code == 0);
  CHECK(has(outcome, "step 30/30"));
}

TEST_CASE("wrong settings exit with 2 and say what to do") {
  const Folder folder;
  folder.write("verse.txt", verse());
  folder.write("short.txt", "abc");
  folder.write("empty.txt", "");
  folder.write("ragged.csv", "1,2,a\n3,b\n");
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const Outcome outcome = run_in(folder, arguments);
    CAPTURE(arguments, outcome.output);
    CHECK(outcome.code == 2);
    CHECK(has(outcome, words));
  };
  refused("charlm --data gone.txt", "data file gone.txt does not exist (looked in " + folder.path().string() + ")");
  refused("charlm --data short.txt", "it needs more than the context of 16");
  refused("charlm --data empty.txt", "the data is empty");
  refused("charlm", "data is needed");
  refused("charlm --data verse.txt --hiden 3", "did you mean --hidden?");
  refused("charlm --data verse.txt --steps 0", "steps is 0");
  refused("gpt --data verse.txt", "gpt not in {charlm,mlp}");
  refused("mlp --data ragged.csv", "line 2 has 2 fields, the first has 3");
}

TEST_CASE("it trains from a token file that the example's program has written") {
  const Folder folder;
  folder.write("verse.txt", verse());
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(source != nullptr);
  const std::string program = std::string("python3 ") + source + "/examples/write_tokens.py";
  REQUIRE(
      std::system((program + " " + (folder / "verse.tokens").string() + " " + (folder / "verse.txt").string() + " >&2")
                      .c_str()) == 0);
  const Outcome outcome = run_in(folder, "charlm --data verse.tokens --steps 30 --hidden 16 --batch 64");
  INFO(outcome.output);
  CHECK(outcome.code == 0);
  CHECK(has(outcome, "step 30/30"));
  fs::resize_file(folder / "verse.tokens", 100);
  const Outcome cut = run_in(folder, "charlm --data verse.tokens");
  CHECK(cut.code == 2);
  CHECK(has(cut, "the token file verse.tokens says that it has 2640 tokens, but holds 38"));
}

TEST_CASE("the job document is read strictly") {
  const Folder folder;
  folder.write("verse.txt", verse());
  const auto with = [&](const std::string& document) {
    folder.write("job.json", document);
    return run_in(folder, "", "TIDEPOOL_JOB_FILE=job.json");
  };
  const Outcome good = with(R"({"run": {"trainer": "charlm", "args": {"data": "verse.txt", "steps": 5, "hidden": 8}},
                               "batch": {"global": 32, "per_worker_max": 5}})");
  INFO(good.output);
  CHECK(good.code == 0);
  CHECK(has(good, "step 5/5"));
  const Outcome bad = with(R"({"run": {"trainer": "charlm", "args": {"data": "verse.txt", "momentun": 0.5}}})");
  CHECK(bad.code == 2);
  CHECK(has(bad, "did you mean \"momentum\"?"));
  CHECK(with("{").code == 2);
  const Outcome callback = with(R"({"run": {"trainer": "charlm", "args": {"data": "verse.txt"}},
                                   "batch": {"on_resize": "callback"}})");
  CHECK(callback.code == 2);
  CHECK(has(callback, "this program has no function that says the batch"));
  CHECK(run_in(folder, "", "TIDEPOOL_JOB_FILE=gone.json").code == 2);
}

TEST_CASE("as workers of a job they grow, lose one, and bring the loss down by more than a third") {
  const Folder folder;
  folder.write("verse.txt", verse());
  folder.write("job.json", R"({"run": {"trainer": "charlm", "args": {"data": "verse.txt", "steps": 250, "hidden": 24}},
                              "batch": {"global": 128, "per_worker_max": 128}})");
  TestLeader leader([&](const WorkerPlace& place) {
    REQUIRE(::chdir(folder.path().c_str()) == 0);
    ::setenv("TIDEPOOL_AGENT_SOCKET", place.socket_path.c_str(), 1);
    ::setenv("TIDEPOOL_WORKER", place.worker.text().c_str(), 1);
    ::setenv("TIDEPOOL_JOB_FILE", "job.json", 1);
    ::execl(trainer().c_str(), "tidepool-trainer", "charlm", nullptr);
    return 127;
  });
  const auto boot = [&] {
    const WorkerId worker = leader.spawn();
    REQUIRE(leader.run_until([&] { return leader.ready(worker); }));
    return worker;
  };
  const auto steps = [&] {
    const auto reports = leader.received<api::StepsMessage>();
    return reports.empty() ? 0 : reports.back().last_step;
  };
  std::vector<WorkerId> workers = {boot()};
  leader.commit(workers);
  workers.push_back(boot());
  workers.push_back(boot());
  leader.commit(workers);
  REQUIRE(leader.run_until([&] { return steps() > 60 && leader.received<api::SwitchedMessage>().size() == 2; }));
  leader.kill(workers[0]);
  REQUIRE(leader.run_until([&] { return leader.living() == 0; }, 60'000));
  CHECK(leader.exits().at(workers[1]) == 0);
  CHECK(leader.exits().at(workers[2]) == 0);

  for (const auto& audit : leader.received<api::EpochAuditedMessage>()) CHECK(audit.checksum_ok);
  const auto finished = leader.received<api::FinishedMessage>();
  REQUIRE(!finished.empty());
  CHECK(finished[0].last_step == 250);
  CHECK(finished[0].loss < leader.received<api::StepsMessage>().front().loss * 2 / 3);
  for (const auto& report : leader.received<api::StepsMessage>()) {
    CHECK(report.compute_us.size() % static_cast<std::size_t>(report.steps) == 0);
    CHECK(report.steps <= 64);
  }
}

}  // namespace tidepool::test
