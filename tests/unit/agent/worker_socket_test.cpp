// The agent's door for its workers, in a process that has no descriptor left.
#include "workers/agent/worker_socket.hpp"

#include <unistd.h>

#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iterator>
#include <optional>

#include "tests/support/io_turns.hpp"
#include "tests/support/no_descriptors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;
using Clock = std::chrono::steady_clock;

struct SocketScene {
  explicit SocketScene(Clock::duration hello_patience = kHelloPatience) : patience(hello_patience) {
    REQUIRE(socket.listen(folder / "worker.sock").ok());
  }

  Clock::duration patience;
  test::TemporaryFolder folder;
  asio::io_context io{1};
  std::vector<std::string> troubles;
  std::vector<WorkerId> ready;
  WorkerSocket socket{
      io,
      {.user_of = [this](WorkerId worker) { return worker == WorkerId(7) ? std::optional(user) : std::nullopt; },
       .on_message = [this](WorkerId worker, api::FromWorker) { ready.push_back(worker); },
       .on_pulse = [](WorkerId, const api::PulseMessage&) {},
       .on_hung_up = [](WorkerId) {},
       .on_trouble = [this](const std::string&, const std::string& sentence) { troubles.push_back(sentence); }},
      patience};

  // Of the same user as this test.
  uid_t user = ::geteuid();

  Local::socket knock() {
    Local::socket link(io);
    link.connect(Local::endpoint((folder / "worker.sock").string()));
    return link;
  }
};

void speak(Local::socket& link) {
  const std::string said = api::encode(api::WorkerToAgent{api::WorkerHello{.worker = WorkerId(7)}}) +
                           api::encode(api::WorkerToAgent{api::FromWorker{api::ReadyMessage{}}});
  asio::write(link, asio::buffer(said));
}

}  // namespace

TEST_CASE("without a free descriptor the agent pauses, says so, and hears the worker when there is one") {
  SocketScene scene;
  test::meet_classes_of_failures();
  std::optional<Local::socket> worker;
  bool failed_often = false;
  Clock::duration took{};
  {
    test::NoDescriptors none;
    none.give_back_one();
    worker.emplace(scene.knock());
    const auto begin = Clock::now();
    failed_often = test::turns_until(scene.io, [&] { return scene.troubles.size() >= 4; });
    took = Clock::now() - begin;
  }
  REQUIRE(failed_often);
  speak(*worker);
  CHECK(took >= 3 * api::kAcceptPause);
  CHECK(scene.troubles.front().find("cannot accept a worker's link: ") == 0);
  CHECK(test::turns_until(scene.io, [&] { return !scene.ready.empty(); }));
  CHECK(scene.ready == std::vector<WorkerId>{WorkerId(7)});
}

TEST_CASE("a worker that connects again and again does not use up the agent's descriptors") {
  SocketScene scene;
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  std::vector<Local::socket> links;
  constexpr std::size_t kTimes = 40;
  for (std::size_t i = 1; i <= kTimes; ++i) {
    links.push_back(scene.knock());
    speak(links.back());
    REQUIRE(test::turns_until(scene.io, [&] { return scene.ready.size() == i; }));
  }
  CHECK(open_files() - before < static_cast<std::ptrdiff_t>(kTimes + 10));  // ours, and a few of the agent's
}

TEST_CASE("a connection that never says hello is closed, and one that did stays") {
  SocketScene scene(std::chrono::milliseconds(300));
  Local::socket worker = scene.knock();
  speak(worker);
  REQUIRE(test::turns_until(scene.io, [&] { return !scene.ready.empty(); }));
  Local::socket silent = scene.knock();
  REQUIRE(test::turns_until(scene.io, [&] { return !scene.troubles.empty(); }));
  CHECK(scene.troubles.front() == "a connection said no hello in time; it was closed");
  boost::system::error_code ended;
  bool closed = false;
  char byte = 0;
  silent.async_read_some(asio::buffer(&byte, 1), [&](boost::system::error_code error, std::size_t) {
    ended = error;
    closed = true;
  });
  REQUIRE(test::turns_until(scene.io, [&] { return closed; }));
  CHECK(ended == asio::error::eof);
  asio::write(worker, asio::buffer(api::encode(api::WorkerToAgent{api::FromWorker{api::ReadyMessage{}}})));
  CHECK(test::turns_until(scene.io, [&] { return scene.ready.size() == 2; }));
  CHECK(scene.troubles.size() == 1);
}

TEST_CASE("a process of another user than the worker's does not get in under its name") {
  SocketScene scene;
  scene.user = ::geteuid() + 1;
  Local::socket link = scene.knock();
  speak(link);
  REQUIRE(test::turns_until(scene.io, [&] { return !scene.troubles.empty(); }));
  CHECK_THAT(scene.troubles.front(), Catch::Contains("said that it is w-7, which is another user's"));
  CHECK(scene.ready.empty());
}

}  // namespace tidepool::agent
