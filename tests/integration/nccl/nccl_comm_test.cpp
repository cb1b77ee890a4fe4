// The communicator over the fake NCCL, ranks as threads: every fault ends every wait, and how a communicator ends
// (aborted, destroyed) is read from the library's own log.
#include <catch2/catch.hpp>

#include <fstream>
#include <functional>
#include <future>
#include <numeric>
#include <thread>

#include "tests/support/fake_gpu.hpp"
#include "tests/support/setting.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/runtime/nccl/gpu.hpp"
#include "workers/runtime/nccl/nccl_comm.hpp"

namespace tidepool::runtime {
namespace {

using test::Setting;
using Ranks = std::vector<std::shared_ptr<NcclComm>>;

const std::string kFolder = FAKE_LIBRARIES;
constexpr Millis kLong{60'000};

// The libraries and the log of one test.
struct Machine {
  explicit Machine(const std::string& nccl = "libfake_nccl_2_28.so")
      : nccl_file("TIDEPOOL_NCCL_LIBRARY", kFolder + "/" + nccl),
        cuda_file("TIDEPOOL_CUDART_LIBRARY", kFolder + "/libfake_cudart.so"),
        log_file("FAKE_NCCL_LOG", (folder / "log").string()) {}

  // How often the library was called so.
  [[nodiscard]] int calls(const std::string& name) const {
    std::ifstream in(folder / "log");
    int found = 0;
    std::string pid;
    for (std::string call; in >> pid >> call;) found += call == name ? 1 : 0;
    return found;
  }

  test::TemporaryFolder folder;
  Setting nccl_file;
  Setting cuda_file;
  Setting log_file;
};

struct Times {
  Millis connect = kLong;
  Millis collective = kLong;
  std::size_t staging_bytes = 4'096;  // so that tests go through many pieces
};

Ranks open_all(int size, const Times& times = {}) {
  const auto nccl = NcclLibrary::load();
  const auto cuda = CudaLibrary::load();
  REQUIRE(nccl.ok());
  REQUIRE(cuda.ok());
  Ranks ranks;
  for (int rank = 0; rank < size; ++rank) {
    const auto comm = NcclComm::open({.nccl = *nccl,
                                      .cuda = *cuda,
                                      .rank = rank,
                                      .size = size,
                                      .connect_timeout = times.connect,
                                      .collective_timeout = times.collective,
                                      .staging_bytes = times.staging_bytes});
    REQUIRE(comm.ok());
    ranks.push_back(*comm);
  }
  return ranks;
}

void on_all(const Ranks& ranks, const std::function<void(NcclComm&)>& act) {
  std::vector<std::thread> threads;
  for (const auto& comm : ranks) threads.emplace_back([&act, comm] { act(*comm); });
  for (auto& thread : threads) thread.join();
}

std::vector<Status> connect_all(const Ranks& ranks) {
  const std::string id = ranks[0]->address();
  std::vector<Status> outcomes(ranks.size(), ok_status());
  on_all(ranks, [&](NcclComm& comm) { outcomes[static_cast<std::size_t>(comm.rank())] = comm.connect(id); });
  return outcomes;
}

Ranks connected(int size, const Times& times = {}) {
  Ranks ranks = open_all(size, times);
  for (const Status& outcome : connect_all(ranks)) REQUIRE(outcome.ok());
  return ranks;
}

constexpr double kFarBelowTimeouts = 20;  // seconds; 30 to connect, 600 for an operation

double seconds_since(TimePoint begin) {
  return millis_between(begin, Clock::now()) / 1'000;
}

}  // namespace

TEST_CASE("NCCL collectives give every rank the same result, with the newest library and the oldest") {
  const std::string library = GENERATE("libfake_nccl_2_28.so", "libfake_nccl_2_18.so");
  const Machine machine(library);
  const Ranks ranks = connected(3);
  std::vector<std::vector<float>> values(3);
  std::vector<std::vector<std::int64_t>> gathered(3);
  std::vector<std::vector<std::byte>> told(3);
  on_all(ranks, [&](NcclComm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    values[rank].resize(10'000);  // ten pieces, the last one short
    std::iota(values[rank].begin(), values[rank].end(), static_cast<float>(rank));
    told[rank].assign(5'001, static_cast<std::byte>(rank));
    const std::int64_t mine[2] = {comm.rank(), -comm.rank()};
    const bool done = comm.allreduce(values[rank]).ok() && comm.broadcast(told[rank], 2).ok();
    if (auto all = comm.allgather(mine); done && all.ok()) gathered[rank] = *all;
    comm.settle();
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(values[rank][0] == 3);
    CHECK(values[rank][9'999] == 3 * 9'999 + 3);
    CHECK(told[rank] == std::vector<std::byte>(5'001, std::byte{2}));
    CHECK(gathered[rank] == std::vector<std::int64_t>{0, 0, 1, -1, 2, -2});
  }
}

TEST_CASE("memory of the GPU is summed where it lies, after the program's work, also with ranks in ordinary memory") {
  const Machine machine;
  const Ranks ranks = connected(2);
  test::FakeGpu gpu;
  const auto access = Gpu::open();
  REQUIRE(access.ok());
  (*access)->use_stream(gpu.stream());
  const auto device = gpu.take<float>(3'000);  // three pieces
  std::vector<float> host(3'000, 2);
  std::vector<float> word[2] = {{1, 2, 3}, {1, 2, 3}};
  std::vector<float> fetched(3'000);
  on_all(ranks, [&](NcclComm& comm) {
    FloatBuffer gradients{.values = host};
    if (comm.rank() == 0) {
      gpu.run([&] {
        std::this_thread::sleep_for(Millis{300});  // a long kernel: a sum that does not wait for it is done by then
        std::ranges::fill(gpu.view(device), 1.0F);
      });
      const auto ready = (*access)->mark(1);
      if (!ready.ok()) return;
      gradients = {.values = device, .memory = Memory::kDevice, .ready = *ready};
    }
    const FloatBuffer parts[] = {gradients, {.values = word[comm.rank()]}};
    if (comm.allreduce_parts(parts).ok() && comm.rank() == 0) {
      gpu.run([&] { std::ranges::copy(gpu.view(device), fetched.begin()); });
      gpu.wait();
    }
  });
  CHECK(host == std::vector<float>(3'000, 3));
  CHECK(fetched == host);
  for (const auto& summed : word) CHECK(summed == std::vector<float>{2, 4, 6});
}

TEST_CASE("the root sends memory of its GPU, and the others receive it in ordinary memory") {
  const Machine machine;
  const Ranks ranks = connected(3);
  test::FakeGpu gpu;
  const auto device = gpu.take<std::byte>(10'001);
  gpu.run([&] { std::ranges::fill(gpu.view(device), std::byte{7}); });
  gpu.wait();
  std::vector<std::vector<std::byte>> told(3, std::vector<std::byte>(10'001));
  on_all(ranks, [&](NcclComm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    static_cast<void>(rank == 1 ? comm.broadcast_device(device) : comm.broadcast(told[rank], 1));
  });
  for (const std::size_t rank : {0U, 2U}) CHECK(told[rank] == std::vector<std::byte>(10'001, std::byte{7}));
}

TEST_CASE("the library refuses host memory where device memory belongs, which is how the fake proves the staging") {
  const Machine machine;
  const Ranks ranks = connected(2);
  std::vector<float> values(10);
  const FloatBuffer wrong{.values = values, .memory = Memory::kDevice};
  const Status outcome = ranks[0]->allreduce_parts({&wrong, 1});
  REQUIRE(!outcome.ok());
  CHECK_THAT(outcome.error().message, Catch::Contains("invalid argument"));
}

TEST_CASE("abort ends a sum that no other rank joins, and the communicator is never destroyed") {
  const Machine machine;
  {
    const Ranks ranks = connected(2);
    const TimePoint begin = Clock::now();
    auto waiting = std::async(std::launch::async, [&] {
      std::vector<float> values(100);
      return ranks[0]->allreduce(values);
    });
    CHECK(waiting.wait_for(Millis{50}) == std::future_status::timeout);
    ranks[0]->abort();
    const Status outcome = waiting.get();
    REQUIRE(!outcome.ok());
    CHECK(outcome.error().code == ErrorCode::kUnavailable);
    CHECK_THAT(outcome.error().message, Catch::Contains("a member is gone"));
    CHECK(seconds_since(begin) < kFarBelowTimeouts);
    std::vector<float> values(10);
    CHECK(!ranks[0]->allreduce(values).ok());
  }
  CHECK(machine.calls("abort") == 2);
  CHECK(machine.calls("destroy") == 0);
}

TEST_CASE("survivors do not wait for NCCL to free what an aborted communicator has") {
  const Machine machine;
  const test::TemporaryFolder folder;
  const Setting slow("FAKE_NCCL_ABORT_UNTIL", (folder.path() / "freed").string());
  {
    const Ranks ranks = connected(2);
    auto waiting = std::async(std::launch::async, [&] {
      std::vector<float> values(100);
      return ranks[0]->allreduce(values);
    });
    CHECK(waiting.wait_for(Millis{50}) == std::future_status::timeout);
    ranks[0]->abort();
    CHECK_FALSE(waiting.get().ok());
    CHECK(machine.calls("abort") == 0);  // not at its end yet
    std::ofstream(folder.path() / "freed");
  }
  CHECK(machine.calls("abort") == 2);
  CHECK(machine.calls("destroy") == 0);
}

TEST_CASE("an initialisation that never ends is ended by its deadline or by abort") {
  const Machine machine;
  const Setting hang("FAKE_NCCL_HANG_INIT", "1");
  SECTION("by its deadline") {
    const Ranks ranks = open_all(2, {.connect = Millis{200}});
    for (const Status& outcome : connect_all(ranks)) {
      REQUIRE(!outcome.ok());
      CHECK_THAT(outcome.error().message, Catch::Contains("no end in the time allowed"));
    }
  }
  SECTION("by abort") {
    const Ranks ranks = open_all(2);
    const TimePoint begin = Clock::now();
    auto waiting = std::async(std::launch::async, [&] { return connect_all(ranks); });
    CHECK(waiting.wait_for(Millis{50}) == std::future_status::timeout);
    for (const auto& comm : ranks) comm->abort();
    for (const Status& outcome : waiting.get()) CHECK(!outcome.ok());
    CHECK(seconds_since(begin) < kFarBelowTimeouts);
  }
  CHECK(machine.calls("abort") == 2);
  CHECK(machine.calls("destroy") == 0);
}

TEST_CASE("an operation that hangs is ended by its deadline") {
  const Machine machine;
  const Setting hang("FAKE_NCCL_HANG_AFTER", "1");
  const Ranks ranks = connected(2, {.collective = Millis{300}});
  on_all(ranks, [](NcclComm& comm) {
    std::vector<float> values(10);
    static_cast<void>(comm.allreduce(values).ok());
  });
  std::vector<float> values(10);
  const Status outcome = ranks[1]->allreduce(values);
  REQUIRE(!outcome.ok());
  CHECK(outcome.error().code == ErrorCode::kUnavailable);
  CHECK_THAT(outcome.error().message, Catch::Contains("allreduce: no end in the time allowed"));
}

TEST_CASE("an error that NCCL reports late is told as a fault of this worker, with NCCL's words") {
  const Machine machine;
  const Setting late("FAKE_NCCL_ERROR_AFTER", "1");
  const Ranks ranks = connected(2);
  std::vector<Status> outcomes(2, ok_status());
  on_all(ranks, [&](NcclComm& comm) {
    std::vector<float> values(10);
    if (comm.allreduce(values).ok()) outcomes[static_cast<std::size_t>(comm.rank())] = comm.allreduce(values);
  });
  for (const Status& outcome : outcomes) {
    REQUIRE(!outcome.ok());
    CHECK(outcome.error().code == ErrorCode::kIo);
    CHECK_THAT(outcome.error().message, Catch::Contains("remote process exited"));
  }
}

TEST_CASE("a peer's death is silence until the push, or an error where NCCL sees it") {
  const Machine machine;
  const bool seen = GENERATE(true, false);
  CAPTURE(seen);
  const Setting death("FAKE_NCCL_DEATH", seen ? "error" : "silence");
  Ranks ranks = connected(2);
  const auto survivor = ranks[0];
  ranks.clear();  // rank 1 goes without a word
  auto waiting = std::async(std::launch::async, [&] {
    std::vector<float> values(10);
    return survivor->allreduce(values);
  });
  if (!seen) {
    CHECK(waiting.wait_for(Millis{100}) == std::future_status::timeout);
    survivor->abort();
  }
  const Status outcome = waiting.get();
  REQUIRE(!outcome.ok());
  CHECK(outcome.error().code == (seen ? ErrorCode::kIo : ErrorCode::kUnavailable));
}

TEST_CASE("a communicator that all have settled is finalized and destroyed, not aborted") {
  const Machine machine;
  {
    const Ranks ranks = connected(3);
    on_all(ranks, [](NcclComm& comm) { comm.settle(); });
  }
  CHECK(machine.calls("finalize") == 3);
  CHECK(machine.calls("destroy") == 3);
  CHECK(machine.calls("abort") == 0);
}

TEST_CASE("a second communicator is made and used while the first one works") {
  const Machine machine;
  const Ranks first = connected(2);
  const Ranks second = connected(2);
  std::vector<int> done(2);
  on_all(first, [&](NcclComm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<float> values(10, 1);
    for (int i = 0; i < 20; ++i) done[rank] += comm.allreduce(values).ok() ? 1 : 0;
    done[rank] += second[rank]->allreduce(values).ok() ? 1 : 0;
  });
  CHECK(done == std::vector<int>{21, 21});
}

TEST_CASE("an id of the wrong length is refused in words") {
  const Machine machine;
  const Ranks ranks = open_all(2);
  const Status outcome = ranks[1]->connect("short");
  REQUIRE(!outcome.ok());
  CHECK_THAT(outcome.error().message, Catch::Contains("NCCL id of the wrong length"));
}

}  // namespace tidepool::runtime
