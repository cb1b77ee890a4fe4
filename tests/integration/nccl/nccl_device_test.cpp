// Jobs whose parameters and gradients lie on the (fake) GPU, as real processes. Memory of that GPU kills a process
// that touches it without a copy, and its work is slow, so that what is read too early is wrong: the job then ends with
// another state than the one trained alone in ordinary memory, or not at all.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>

#include "tests/support/elastic_scene.hpp"
#include "tests/support/fake_gpu.hpp"
#include "tests/support/setting.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {
namespace {

const std::string kFolder = FAKE_LIBRARIES;

using Environment = std::map<std::string, std::string>;

// Workers on slow GPUs; `without` has no NCCL, so that a generation with it goes over Gloo.
std::function<void(const WorkerPlace&)> on_gpus(std::uint64_t without = 0, Environment more = {}) {
  return [without, more = std::move(more)](const WorkerPlace& place) {
    Environment values = {{"TIDEPOOL_CUDART_LIBRARY", kFolder + "/libfake_cudart.so"},
                          {"TIDEPOOL_NCCL_LIBRARY", kFolder + "/libfake_nccl_2_28.so"},
                          {"CUDA_VISIBLE_DEVICES", "GPU-" + place.worker.text()},
                          {"FAKE_CUDA_SLOW_US", "200"}};
    if (place.worker.number() == without) values["CUDA_VISIBLE_DEVICES"] = "";
    for (const auto& [name, value] : more) values[name] = value;
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  };
}

}  // namespace

TEST_CASE("the host cannot touch memory of the fake GPU, so that a missing copy cannot go unseen") {
  const Setting library("TIDEPOOL_CUDART_LIBRARY", kFolder + "/libfake_cudart.so");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);  // and no report of what is meant to happen
    FakeGpu gpu;
    *static_cast<volatile float*>(gpu.take<float>(4).data()) = 1;
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("a job on GPUs grows, loses a worker and ends with the state of a job in ordinary memory") {
  const bool in_buckets = GENERATE(false, true);
  CAPTURE(in_buckets);
  Scene scene({.steps = 120, .in_buckets = in_buckets, .on_gpu = {1, 2, 3}, .noise_every = 7}, on_gpus());
  scene.start(2);
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[2], 2));  // its state came from another's GPU
  REQUIRE(scene.goes_on(scene.workers[0], 10));
  scene.loses(0);
  REQUIRE(scene.enters(scene.workers[0], 3));
  scene.finish();
  for (const WorkerId worker : scene.workers) CHECK(scene.job.diary(worker).retries <= 1);
}

TEST_CASE("workers on GPUs and workers in ordinary memory train one job, over NCCL and over Gloo") {
  const std::uint64_t without_nccl = GENERATE(0U, 2U, 3U);
  CAPTURE(without_nccl);
  Scene scene({.steps = 120, .in_buckets = true, .on_gpu = {1, 3}, .noise_every = 7}, on_gpus(without_nccl));
  scene.start(2);
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[2], 2));
  scene.finish();
  CHECK(scene.job.diary(scene.workers[2]).generation == 2);
}

TEST_CASE("a worker alone on its GPU measures the noise of its gradients from two steps") {
  Scene scene({.steps = 60, .on_gpu = {1}, .noise_every = 3}, on_gpus());
  scene.start(1);
  scene.finish();
}

TEST_CASE("the state of a GPU is parked, and goes on from there on another GPU and in ordinary memory") {
  const std::set<std::uint64_t> second_on_gpu = GENERATE(std::set<std::uint64_t>{2}, std::set<std::uint64_t>{});
  CAPTURE(second_on_gpu.size());
  const TemporaryFolder folder;
  std::set<std::uint64_t> on_gpu = {1};
  on_gpu.insert(second_on_gpu.begin(), second_on_gpu.end());
  Scene scene({.steps = 120, .keep = {.checkpoint_folder = folder.path(), .owner = "job-1"}, .on_gpu = on_gpu},
              on_gpus());
  scene.start(1);
  scene.leader.park();
  REQUIRE(scene.all_have_left());
  const auto parked = scene.leader.received<api::ParkedMessage>();
  REQUIRE(parked.size() == 1);
  scene.workers = {scene.boot()};
  scene.leader.commit(scene.workers);
  scene.finish();
  const auto restored = scene.leader.received<api::RestoredMessage>();
  REQUIRE(restored.size() == 1);
  CHECK(restored[0].step == parked[0].step);
}

TEST_CASE("checkpoints of a GPU's state are taken while it trains") {
  const TemporaryFolder folder;
  Scene scene({.steps = 150, .keep = {.checkpoint_folder = folder.path(), .owner = "job-1"}, .on_gpu = {1, 2}},
              on_gpus());
  scene.start(2);
  scene.leader.order_checkpoint();
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.received<api::CheckpointedMessage>().empty(); }));
  scene.finish();
}

TEST_CASE("memory that is no GPU's is refused in words, and so is a GPU where there is none") {
  const Setting library("TIDEPOOL_CUDART_LIBRARY", kFolder + "/libfake_cudart.so");
  runtime::SessionOptions options;
  options.samples = 10;
  const auto session = runtime::Session::open(options);
  REQUIRE(session.ok());
  std::vector<float> host(4);
  const Status lent = (*session)->lend_gradients(host);
  REQUIRE(!lent.ok());
  CHECK_THAT(lent.error().message, Catch::Contains("\"gradients\"") && Catch::Contains("no memory of the GPU"));
  const Status state = (*session)->register_on_device("weights", std::as_writable_bytes(std::span(host)));
  REQUIRE(!state.ok());
  CHECK_THAT(state.error().message, Catch::Contains("\"weights\""));
  const Setting none("FAKE_CUDA_DEVICES", "0");
  const auto other = runtime::Session::open(options);
  REQUIRE(other.ok());
  const Status stream = (*other)->use_stream(nullptr);
  REQUIRE(!stream.ok());
  CHECK_THAT(stream.error().message, Catch::Contains("no CUDA-capable device"));
}

}  // namespace tidepool::test
