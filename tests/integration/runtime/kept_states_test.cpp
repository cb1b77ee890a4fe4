// States that outlive their processes: parked ones and checkpoints, written and read by real workers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/elastic_scene.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMegabyte = 1U << 20U;

std::vector<fs::path> files_in(const fs::path& folder, const std::string& ending = ".tidepool") {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_symlink() && entry.path().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Kept {
  TemporaryFolder memory;
  TemporaryFolder disk;

  [[nodiscard]] runtime::KeepOptions options() const {
    return {.checkpoint_folder = disk.path() / "checkpoints",
            .park_folder = memory.path() / "park",
            .owner = "test-cluster/job-1"};
  }
  [[nodiscard]] fs::path checkpoints() const { return disk.path() / "checkpoints"; }
  [[nodiscard]] fs::path parked() const { return memory.path() / "park"; }
};

// New processes go on with the job; it must end as if nothing had happened.
void resume(Scene& scene, int size) {
  scene.workers.clear();
  for (int i = 0; i < size; ++i) scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  scene.finish();
}

void flip_a_bit(const fs::path& file, std::int64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(at);
  const char byte = static_cast<char>(stream.get() ^ 4);
  stream.seekp(at);
  stream.put(byte);
}

}  // namespace

TEST_CASE("a parked job leaves one state in memory, and other workers go on from it") {
  const Kept kept;
  Scene scene({.steps = 300, .step_us = 300, .keep = kept.options()});
  scene.start(3);
  scene.leader.park();
  REQUIRE(scene.all_have_left());
  for (const WorkerId worker : scene.workers) CHECK(scene.leader.exits().at(worker) == 0);
  const auto parked = scene.leader.received<api::ParkedMessage>();
  REQUIRE(parked.size() == 1);
  CHECK(parked[0].step == scene.job.diary(scene.workers[2]).steps);
  CHECK(parked[0].bytes == 2 * 64 * 4 + 8);
  REQUIRE(files_in(kept.parked()).size() == 1);
  CHECK(files_in(kept.checkpoints()).empty());

  resume(scene, 2);
  const auto restored = scene.leader.received<api::RestoredMessage>();
  REQUIRE(restored.size() == 1);
  CHECK(restored[0].step == parked[0].step);
  CHECK(restored[0].path == files_in(kept.parked())[0]);
}

TEST_CASE("after a death every survivor parks its own state at once") {
  const Kept kept;
  Scene scene({.steps = 300, .step_us = 300, .keep = kept.options()});
  scene.leader.leave_deaths_alone();
  scene.start(3);
  scene.leader.kill(scene.workers[1]);
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.alive(scene.workers[1]); }));
  scene.leader.park(true);
  REQUIRE(scene.all_have_left());
  const auto parked = scene.leader.received<api::ParkedMessage>();
  REQUIRE(parked.size() == 2);
  CHECK(std::abs(parked[0].step - parked[1].step) <= 1);
  CHECK(files_in(kept.parked()).size() == 2);
  resume(scene, 3);
  CHECK(scene.leader.received<api::RestoredMessage>()[0].step == std::max(parked[0].step, parked[1].step));
}

TEST_CASE("when rank 0 dies in the middle of writing, the others park the state instead") {
  const Kept kept;
  Scene scene({.steps = 60, .step_us = 300, .keep = kept.options(), .standing_bytes = 64 * kMegabyte});
  scene.leader.leave_deaths_alone();
  scene.start(2);
  scene.leader.park();
  REQUIRE(scene.leader.run_until([&] { return !files_in(kept.parked(), ".unfinished").empty(); }));
  scene.leader.kill(scene.workers[0]);
  REQUIRE(scene.all_have_left());
  REQUIRE(scene.leader.exits().at(scene.workers[0]) != 0);
  CHECK(scene.leader.exits().at(scene.workers[1]) == 0);
  CHECK(scene.leader.received<api::ParkedMessage>().size() == 1);
  CHECK(files_in(kept.parked()).size() == 1);
  resume(scene, 1);
  CHECK(files_in(kept.parked(), ".unfinished").empty());
}

TEST_CASE("without a folder in memory a state is parked on disk, and without any folder the worker fails in words") {
  const Kept kept;
  auto options = kept.options();
  options.park_folder = "/proc/no/such/place";
  Scene scene({.steps = 300, .step_us = 300, .keep = options});
  scene.start(2);
  scene.leader.park();
  REQUIRE(scene.all_have_left());
  CHECK(files_in(kept.checkpoints()).size() == 1);
  resume(scene, 1);

  Scene nowhere({.steps = 300, .step_us = 300});
  nowhere.start(1);
  nowhere.leader.park();
  REQUIRE(nowhere.all_have_left());
  CHECK(nowhere.leader.exits().at(nowhere.workers[0]) == 1);
  CHECK(nowhere.leader.received<api::ParkedMessage>().empty());
}

TEST_CASE("a checkpoint is taken when told, by rank 0, while training goes on") {
  const Kept kept;
  auto options = kept.options();
  options.keep = 2;
  Scene scene({.steps = 600, .step_us = 300, .keep = options});
  scene.start(2);
  for (std::size_t i = 1; i <= 4; ++i) {
    scene.leader.order_checkpoint();
    REQUIRE(scene.leader.run_until([&] { return scene.leader.received<api::CheckpointedMessage>().size() == i; }));
  }
  const auto taken = scene.leader.received<api::CheckpointedMessage>();
  const auto files = files_in(kept.checkpoints());
  REQUIRE(files.size() == 2);  // the newest two
  CHECK(files[1] == taken[3].path);
  CHECK(fs::read_symlink(kept.checkpoints() / "latest") == files[1].filename());

  // All die at once: no replica lives.
  scene.leader.leave_deaths_alone();
  for (const WorkerId worker : scene.workers) scene.leader.kill(worker);
  REQUIRE(scene.all_have_left());
  resume(scene, 3);
  CHECK(scene.leader.received<api::RestoredMessage>()[0].step == taken[3].step);
}

TEST_CASE("a checkpoint that cannot be written is told with why, and training goes on") {
  const Kept kept;
  auto options = kept.options();
  options.checkpoint_folder = kept.checkpoints() / "file" / "below";
  fs::create_directories(kept.checkpoints());
  std::ofstream(kept.checkpoints() / "file") << "in the way";
  Scene scene({.steps = 300, .step_us = 300, .keep = options});
  scene.start(2);
  scene.leader.order_checkpoint();
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.received<api::CheckpointFailedMessage>().empty(); }));
  const auto failed = scene.leader.received<api::CheckpointFailedMessage>().front();
  CHECK(failed.generation == 1);
  CHECK(failed.step > 0);
  CHECK(failed.error.find("Not a directory") != std::string::npos);
  scene.finish();
  CHECK(scene.leader.received<api::CheckpointedMessage>().empty());
}

TEST_CASE("checkpoints are taken at their interval, and not read while a replica lives") {
  const Kept kept;
  auto options = kept.options();
  options.every = runtime::Millis{50};
  Scene scene({.steps = 500, .step_us = 1'000, .keep = options});
  scene.start(2);
  REQUIRE(scene.leader.run_until([&] { return scene.leader.received<api::CheckpointedMessage>().size() >= 3; }));
  scene.leader.kill(scene.workers[0]);
  scene.workers.erase(scene.workers.begin());
  REQUIRE(scene.enters(scene.workers[0], 2));
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  scene.finish();
  CHECK(scene.leader.received<api::RestoredMessage>().empty());
}

TEST_CASE("a checkpoint that rank 0 was writing when it died is taken by the next rank 0, and all can die then") {
  const Kept kept;
  Scene scene({.steps = 100, .step_us = 10'000, .keep = kept.options(), .standing_bytes = 32 * kMegabyte});
  scene.start(3);
  scene.leader.order_checkpoint();
  REQUIRE(scene.leader.run_until([&] { return !files_in(kept.checkpoints(), ".unfinished").empty(); }));
  scene.loses(0);
  REQUIRE(scene.enters(scene.workers[0], 2));
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.received<api::CheckpointedMessage>().empty(); }));
  const auto taken = scene.leader.received<api::CheckpointedMessage>().front();
  CHECK(taken.generation == 2);
  scene.leader.leave_deaths_alone();
  for (const WorkerId worker : scene.workers) scene.leader.kill(worker);
  REQUIRE(scene.all_have_left());
  resume(scene, 2);
  CHECK(scene.leader.received<api::RestoredMessage>()[0].step == taken.step);
  CHECK(files_in(kept.checkpoints(), ".unfinished").empty());
}

TEST_CASE("a checkpoint that is torn, flipped or of other data is skipped, and the newest good one is taken") {
  const Kept kept;
  Scene scene({.steps = 600, .step_us = 300, .keep = kept.options()});
  scene.start(2);
  for (std::size_t i = 1; i <= 3; ++i) {
    scene.leader.order_checkpoint();
    REQUIRE(scene.leader.run_until([&] { return scene.leader.received<api::CheckpointedMessage>().size() == i; }));
  }
  scene.leader.leave_deaths_alone();
  for (const WorkerId worker : scene.workers) scene.leader.kill(worker);
  REQUIRE(scene.all_have_left());
  const auto files = files_in(kept.checkpoints());
  REQUIRE(files.size() == 3);
  fs::resize_file(files[2], fs::file_size(files[2]) - 1);
  flip_a_bit(files[1], static_cast<std::int64_t>(fs::file_size(files[1])) - 100);  // in a piece: seen when it is read
  const auto taken = scene.leader.received<api::CheckpointedMessage>();
  const std::int64_t good = taken[0].step;
  const auto is_told = [](const Scene& from, std::int64_t step, UnusedWhy why) {
    const auto unused = from.leader.received<api::SwitchedMessage>().back().unused;
    return unused && unused->step == step && unused->why == why;
  };

  SECTION("the oldest is left") {
    resume(scene, 2);
    CHECK(scene.leader.received<api::RestoredMessage>()[0].step == good);
    CHECK(is_told(scene, taken[2].step, UnusedWhy::kDamaged));
  }
  SECTION("of two that are left out, the one that is found damaged when it is read is told if it is the newer") {
    fs::remove(files[2]);
    resume(scene, 2);
    CHECK(is_told(scene, taken[1].step, UnusedWhy::kDamaged));
  }
  SECTION("none is left: the job begins anew, and says so by restoring nothing") {
    flip_a_bit(files[0], 40);
    resume(scene, 2);
    CHECK(scene.leader.received<api::RestoredMessage>().empty());
  }
  SECTION("a job over other data does not take it") {
    fs::remove(files[2]);
    fs::remove(files[1]);
    Scene other({.samples = 999, .steps = 100, .step_us = 300, .keep = kept.options()});
    other.start(1);
    other.finish();
    CHECK(is_told(other, good, UnusedWhy::kOtherLayout));
    CHECK(other.leader.received<api::RestoredMessage>().empty());
  }
  SECTION("nor does a job of another cluster that has the same name") {
    auto options = kept.options();
    options.owner = "another-cluster/job-1";
    Scene other({.steps = 100, .step_us = 300, .keep = options});
    other.start(1);
    other.finish();
    CHECK(other.leader.received<api::RestoredMessage>().empty());
    CHECK_FALSE(other.leader.received<api::SwitchedMessage>().back().unused);
    CHECK(files_in(kept.checkpoints()).size() == 3);
  }
}

TEST_CASE("a worker that computes for too long says so in its pulse, and one that is stopped sends none") {
  Scene scene({.steps = 300, .step_us = 300, .stuck_after = runtime::Millis{400}, .hang_at = 30});
  scene.start(2);
  const auto hangs = [&] {
    const auto pulse = scene.leader.pulse(scene.workers[0]);
    return pulse && pulse->phase == api::PulsePhase::kComputing && pulse->step == 30 && pulse->stuck_after_ms == 400;
  };
  REQUIRE(scene.leader.run_until(hangs));
  REQUIRE(scene.leader.run_until([&] {
    const auto pulse = scene.leader.pulse(scene.workers[1]);
    return pulse && pulse->phase == api::PulsePhase::kReducing;
  }));
  // What the daemon does then: the stuck worker is ended, the other goes on.
  scene.leader.kill(scene.workers[0]);
  scene.workers.erase(scene.workers.begin());
  REQUIRE(scene.enters(scene.workers[0], 2));
  scene.leader.kill(scene.workers[0]);
}

TEST_CASE(
    "what a program does between a step's sum and its next step is given as long as what it does after a commit") {
  Scene scene({.steps = 300, .step_us = 300, .hang_at = 30, .hangs_after_sum = true});
  scene.start(1);
  REQUIRE(scene.leader.run_until([&] {
    const auto pulse = scene.leader.pulse(scene.workers[0]);
    return pulse && pulse->phase == api::PulsePhase::kComputing && pulse->step == 30 &&
           pulse->stuck_after_ms == 600'000;
  }));
  scene.leader.kill(scene.workers[0]);
}

}  // namespace tidepool::test
