// The file of a checkpoint and the folder that holds it: complete, or not there.
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/support/seeds.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/runtime/checkpoint/checkpoint_file.hpp"
#include "workers/runtime/checkpoint/checkpoint_folder.hpp"

namespace tidepool::runtime {
namespace {

namespace fs = std::filesystem;

std::atomic<int> signals_taken = 0;

const std::string kTag = tag_of("cluster/job-3");

struct State {
  std::vector<float> weights = std::vector<float>(1'000, 1.5F);
  std::vector<std::uint8_t> random = {1, 2, 3};

  [[nodiscard]] std::vector<NamedBytes> pieces() const {
    return {{"weights", std::as_bytes(std::span(weights))}, {"random", std::as_bytes(std::span(random))}};
  }
};

CheckpointHeader header_at(std::int64_t step) {
  return {.owner = "cluster/job-3", .layout = 0xfedc'ba98'7654'3210, .step = step, .progress = {1, -2, step}};
}

fs::path publish(const fs::path& folder, std::int64_t step, WorkerId worker = WorkerId(1)) {
  const auto path = publish_checkpoint(
      folder, {.tag = kTag, .step = step, .worker = worker},
      [&](const fs::path& file) { return write_checkpoint(file, header_at(step), State().pieces()); });
  REQUIRE(path.ok());
  return *path;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("what was written is read back, and where it comes from with it") {
  const test::TemporaryFolder folder;
  const auto file = CheckpointFile::open(publish(folder.path(), 120));
  REQUIRE(file.ok());
  CHECK(file->header().owner == "cluster/job-3");
  CHECK(file->header().layout == 0xfedc'ba98'7654'3210);
  CHECK(file->header().step == 120);
  CHECK(file->header().progress == std::vector<std::int64_t>{1, -2, 120});
  CHECK(file->bytes() == 4'003);
  for (int again = 0; again < 2; ++again) {
    const auto bytes = file->read();
    REQUIRE(bytes.ok());
    CHECK(bytes->size() == 4'003);
    CHECK(std::to_integer<int>(bytes->back()) == 3);
  }
}

TEST_CASE("no damage goes unnoticed: every cut and every flipped bit is an error that names the file") {
  const test::TemporaryFolder folder;
  const fs::path good = publish(folder.path(), 7);
  const std::string bytes = bytes_of(good);
  const fs::path bad = folder / "bad";
  const auto refused = [&](const std::string& content) {
    std::ofstream(bad, std::ios::binary) << content;
    const auto file = CheckpointFile::open(bad);
    const auto read = file.ok() ? file->read() : Result<std::vector<std::byte>>(file.error());
    return !read.ok() && read.error().message.find(bad.string() + " is damaged") != std::string::npos;
  };
  CHECK(!refused(bytes));
  CHECK(refused(""));
  CHECK(refused(bytes + "x"));
  test::for_each_seed("damage", 200, [&](std::uint64_t, Rng& rng) {
    const std::size_t at = rng.below(bytes.size());
    CAPTURE(at);
    CHECK(refused(bytes.substr(0, at)));
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1U << rng.below(8)));
    CHECK(refused(flipped));
  });
}

TEST_CASE("a write that fails leaves nothing behind, and what is there stays") {
  const test::TemporaryFolder folder;
  const fs::path before = publish(folder.path(), 5);
  const auto failed =
      publish_checkpoint(folder.path(), {.tag = kTag, .step = 6, .worker = WorkerId(1)}, [&](const fs::path& file) {
        std::ofstream(file) << "half";
        return Status(io_error("the disk is full"));
      });
  REQUIRE(!failed.ok());
  CHECK_THAT(failed.error().message, Catch::Contains(folder.path().string()) && Catch::Contains("the disk is full"));
  CHECK(checkpoints_in(folder.path(), kTag) == std::vector<fs::path>{before});
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);  // the file and `latest`
  CHECK(fs::read_symlink(folder / kLatestName) == before.filename());
}

TEST_CASE("a folder gives the newest first, keeps as many steps as told and leaves other jobs alone") {
  const test::TemporaryFolder folder;
  const fs::path foreign = folder / (tag_of("cluster/job-4") + ".step-000000000001.w-1.tidepool");
  std::ofstream(foreign) << "of another job";
  for (const std::int64_t step : {9, 10, 11}) static_cast<void>(publish(folder.path(), step));
  const fs::path twin = publish(folder.path(), 11, WorkerId(2));
  const auto found = checkpoints_in(folder.path(), kTag);
  REQUIRE(found.size() == 4);
  CHECK(found[1] == twin);
  CHECK(CheckpointName::parse(found[3].filename().string())->step == 9);
  const auto newest = CheckpointName::parse(found[0].filename().string());
  prune_checkpoints(folder.path(), *newest, 2);
  CHECK(checkpoints_in(folder.path(), kTag).size() == 3);  // two steps, one of them twice
  CHECK(fs::exists(foreign));
}

TEST_CASE("a checkpoint that was passed over displaces none of those that are written later") {
  const test::TemporaryFolder folder;
  const fs::path damaged = publish(folder.path(), 500);
  std::ofstream(damaged) << "half";
  for (const std::int64_t step : {100, 110, 120}) {
    const fs::path written = publish(folder.path(), step);
    prune_checkpoints(folder.path(), *CheckpointName::parse(written.filename().string()), 2);
    CHECK(fs::exists(written));
  }
  CHECK(checkpoints_in(folder.path(), kTag).size() == 3);
  CHECK(fs::exists(damaged));
}

TEST_CASE("what a dead writer left unfinished is not seen, and removed when told") {
  const test::TemporaryFolder folder;
  const CheckpointName name{.tag = kTag, .step = 3, .worker = WorkerId(4)};
  std::ofstream(folder / (name.text() + ".unfinished")) << "half";
  std::ofstream(folder / "notes.unfinished") << "not ours";
  CHECK(checkpoints_in(folder.path(), kTag).empty());
  remove_unfinished(folder.path(), kTag);
  CHECK(!fs::exists(folder / (name.text() + ".unfinished")));
  CHECK(fs::exists(folder / "notes.unfinished"));
}

TEST_CASE("a checkpoint that moves is whole at its new place before it is gone from the old one") {
  const test::TemporaryFolder memory;
  const test::TemporaryFolder disk;
  const fs::path file = publish(memory.path(), 8);
  const std::string bytes = bytes_of(file);
  REQUIRE(move_checkpoint(file, disk / "deep/er").ok());
  CHECK(!fs::exists(file));
  CHECK(bytes_of(disk / "deep/er" / file.filename().string()) == bytes);
  std::ofstream(disk / "occupied") << "a file where the folder should be";
  const fs::path next = publish(memory.path(), 9);
  CHECK(!move_checkpoint(next, disk / "occupied").ok());
  CHECK(bytes_of(next).size() == bytes.size());
}

TEST_CASE("a state is kept also where no link can point at it") {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / kLatestName / "in the way");
  const fs::path kept = publish(folder.path(), 5);
  CHECK(checkpoints_in(folder.path(), kTag) == std::vector<fs::path>{kept});
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);  // the file and what is in the way
  fs::remove_all(folder / kLatestName);
  const fs::path next = publish(folder.path(), 6);
  CHECK(fs::read_symlink(folder / kLatestName) == next.filename());
}

TEST_CASE("signals do not end the move of a checkpoint") {
  const test::TemporaryFolder memory;
  const test::TemporaryFolder disk;
  const std::string name = CheckpointName{.tag = kTag, .step = 8, .worker = WorkerId(1)}.text();
  const fs::path source = memory / name;  // whose bytes come late
  REQUIRE(::mkfifo(source.c_str(), 0600) == 0);
  struct sigaction counts{}, before{};
  counts.sa_handler = [](int) { ++signals_taken; };
  REQUIRE(::sigaction(SIGUSR1, &counts, &before) == 0);
  Status moved = ok_status();
  std::atomic<bool> over = false;
  std::thread mover([&] {
    moved = move_checkpoint(source, disk.path());
    over = true;
  });
  {
    std::ofstream bytes(source, std::ios::binary);  // once it reads
    for (int sent = 1; sent <= 100 && !over; ++sent) {
      ::pthread_kill(mover.native_handle(), SIGUSR1);
      while (signals_taken < sent && !over) std::this_thread::yield();
    }
    if (!over) bytes << "state";
  }
  mover.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  INFO((moved.ok() ? std::string() : moved.error().message));
  CHECK(moved.ok());
  CHECK(bytes_of(disk / name) == "state");
}

TEST_CASE("names tell jobs of different clusters apart, and only whole names are taken") {
  CHECK(tag_of("a/job-1") != tag_of("b/job-1"));
  CHECK(tag_of("a/job-1").starts_with("job-1."));
  const CheckpointName name{.tag = kTag, .step = 42, .worker = WorkerId(7)};
  const auto parsed = CheckpointName::parse(name.text());
  REQUIRE(parsed.has_value());
  CHECK(parsed->tag == kTag);
  CHECK(parsed->step == 42);
  CHECK(parsed->worker == WorkerId(7));
  for (const char* wrong : {"", "latest", "x.step-.w-1.tidepool", "x.step--4.w-1.tidepool", "x.step-4.tidepool",
                            "x.step-4.w-x.tidepool", "x.step-4.w-1.tidepool.unfinished"}) {
    CAPTURE(wrong);
    CHECK(!CheckpointName::parse(wrong).has_value());
  }
}

}  // namespace tidepool::runtime
