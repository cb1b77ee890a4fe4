#include "workers/agent/worker_rooms.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <catch2/catch.hpp>

#include "tests/support/io_turns.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::agent {
namespace {

const NodeSlots kTwoGpus{.count = 2, .type = "h", .gpus = {{"GPU-a", "h"}, {"GPU-b", "h"}}};

struct Scene {
  test::TemporaryFolder folder;
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work = boost::asio::make_work_guard(io);
  std::atomic<int> holders = 1;  // of GPU-b's memory
  std::atomic<int> asked = 0;
  WorkerRooms rooms{io,
                    {.confinement = Confinement::open({.mode = IsolationOptions::Mode::kNone}, {}).value(),
                     .work = folder / "work",
                     .gpu_processes = [this](const std::string& uuid) -> std::optional<int> {
                       ++asked;
                       if (uuid == "GPU-a") return std::nullopt;  // the driver does not tell
                       return holders.load();
                     },
                     .held_after = Duration::millis(150)}};
  bool free = false;
  std::vector<std::string> held;

  void close(WorkerId worker) {
    rooms.close(worker, {.done = [this](const std::string&) { free = true; },
                         .held =
                             [this](const std::string& what, Duration lasted) {
                               CHECK(lasted >= Duration::millis(150));
                               held.push_back(what);
                             }});
  }
  void open(WorkerId worker, std::vector<int> slots) {
    const api::StartWorker order{.worker = worker, .job = JobId(1), .slots = std::move(slots), .gpus = true};
    ChildSpec spec;
    REQUIRE(rooms.open({.order = order, .node = kTwoGpus, .cluster = "c", .states = folder / "states"}, spec).ok());
    CHECK(spec.syscall_filter.size() == rooms.confinement().syscall_filter().size());
  }
};

}  // namespace

TEST_CASE("a slot is taken until the memory of its GPU is back") {
  Scene scene;
  scene.open(WorkerId(1), {0, 1});
  CHECK(scene.rooms.gpus_of_worker(WorkerId(1)) == std::vector<std::string>{"GPU-a", "GPU-b"});
  scene.close(WorkerId(1));
  REQUIRE(test::turns_until(scene.io, [&] { return scene.asked >= 12; }));
  CHECK_FALSE(scene.free);
  CHECK(scene.held == std::vector<std::string>{"memory of GPU-b is still held"});  // told once
  scene.holders = 0;
  CHECK(test::turns_until(scene.io, [&] { return scene.free; }));
}

TEST_CASE("the memory of a GPU that an adopted worker has is waited for, too; another worker's GPU is not asked") {
  Scene scene;
  scene.rooms.adopt({.worker = WorkerId(2), .gpus = {"GPU-b"}});
  scene.open(WorkerId(3), {0});
  scene.close(WorkerId(3));
  CHECK(test::turns_until(scene.io, [&] { return scene.free; }));
  scene.free = false;
  scene.close(WorkerId(2));
  const int before = scene.asked;
  REQUIRE(test::turns_until(scene.io, [&] { return scene.asked >= before + 3; }));
  CHECK_FALSE(scene.free);
  scene.holders = 0;
  CHECK(test::turns_until(scene.io, [&] { return scene.free; }));
}

TEST_CASE("while an adopted worker cannot come under the check of addresses, the node does not tell of one") {
  const test::TemporaryFolder folder;
  auto confinement = Confinement::open({}, {.state_dir = folder.path(), .confiner = "/bin/true"});
  REQUIRE(confinement.ok());
  const auto has = [](const std::vector<std::string>& parts, const char* part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  if (!has(confinement->kept(), "metadata")) return;  // this user or this host cannot deny addresses
  boost::asio::io_context io{1};
  WorkerRooms rooms(io, {.confinement = *std::move(confinement), .work = folder / "work", .gpu_processes = {}});
  CHECK(rooms.kept() == rooms.confinement().kept());
  rooms.deny_addresses_to(WorkerId(4));  // without a control group, as one of before the check on a host of version 1
  CHECK_FALSE(has(rooms.kept(), "metadata"));
  CHECK(has(rooms.kept(), "uid"));
  rooms.release(WorkerId(4));
  CHECK(rooms.kept() == rooms.confinement().kept());
}

}  // namespace tidepool::agent
