// The loop that accepts, on a real listening socket of a process that has no descriptor left.
#include "api/accept_loop.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <catch2/catch.hpp>
#include <optional>

#include "tests/support/io_turns.hpp"
#include "tests/support/no_descriptors.hpp"

namespace tidepool::api {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

struct Scene {
  asio::io_context io{1};
  Tcp::acceptor acceptor{io, Tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::vector<Tcp::socket> links;
  int failures = 0;
  boost::system::error_code why;  // of the newest
  AcceptLoop<Tcp::acceptor> loop{acceptor,
                                 {.on_link = [this](Tcp::socket link) { links.push_back(std::move(link)); },
                                  .on_failure =
                                      [this](const boost::system::error_code& failed) {
                                        why = failed;
                                        ++failures;
                                      }}};
  Tcp::endpoint address = acceptor.local_endpoint();

  Tcp::socket knock() {
    Tcp::socket client(io);
    client.connect(address);
    return client;
  }
};

}  // namespace

TEST_CASE("without a free descriptor the loop pauses after each failure, and takes the links when there is one") {
  Scene scene;
  const Tcp::socket before = scene.knock();
  scene.loop.start();
  REQUIRE(test::turns_until(scene.io, [&] { return scene.links.size() == 1; }));
  test::meet_classes_of_failures();
  std::optional<Tcp::socket> first, second;
  bool failed_often = false;
  Clock::duration took{};
  {
    test::NoDescriptors none;
    none.give_back_one();
    none.give_back_one();
    first.emplace(scene.knock());
    second.emplace(scene.knock());
    const auto begin = Clock::now();
    failed_often = test::turns_until(scene.io, [&] { return scene.failures >= 4; });
    took = Clock::now() - begin;
  }
  REQUIRE(failed_often);
  CHECK(scene.why == boost::system::errc::too_many_files_open);
  CHECK(took >= 3 * kAcceptPause);  // a pause between two
  CHECK(test::turns_until(scene.io, [&] { return scene.links.size() == 3; }));
  const Tcp::socket later = scene.knock();
  CHECK(test::turns_until(scene.io, [&] { return scene.links.size() == 4; }));
}

TEST_CASE("a loop that is stopped while it waits for a link, or in its pause, takes none any more") {
  for (const bool in_its_pause : {false, true}) {
    Scene scene;
    scene.loop.start();
    std::optional<Tcp::socket> link;
    bool failed = false;
    if (in_its_pause) {
      {
        const Tcp::socket met = scene.knock();
      }
      REQUIRE(test::turns_until(scene.io, [&] { return scene.links.size() == 1; }));
      test::meet_classes_of_failures();
      test::NoDescriptors none;
      none.give_back_one();
      link.emplace(scene.knock());
      failed = test::turns_until(scene.io, [&] { return scene.failures == 1; });
    }
    CHECK(failed == in_its_pause);
    scene.loop.stop();
    scene.io.restart();
    scene.io.run();  // comes to its end: nothing is awaited any more
    CHECK(scene.links.size() == (in_its_pause ? 1 : 0));
    CHECK(!scene.acceptor.is_open());
  }
}

}  // namespace tidepool::api
