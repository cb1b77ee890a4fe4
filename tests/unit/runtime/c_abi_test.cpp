#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "workers/runtime/tidepool.h"

namespace {

tidepool_options options_for(int64_t steps) {
  ::unsetenv("TIDEPOOL_AGENT_SOCKET");
  return {.struct_size = sizeof(tidepool_options), .samples = 20, .global_batch = 8, .seed = 3, .steps = steps};
}

bool says(const char* words) {
  return std::string(tidepool_last_error()).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a program in C trains alone through the shared library, to its end") {
  const tidepool_options options = options_for(5);
  tidepool_session* job = nullptr;
  REQUIRE(tidepool_open(&options, &job) == TIDEPOOL_OK);
  float parameter = 0;
  REQUIRE(tidepool_register(job, "parameter", &parameter, sizeof parameter) == TIDEPOOL_OK);
  float* gradient = tidepool_gradients(job, 1);
  REQUIRE(gradient != nullptr);
  REQUIRE(tidepool_join(job) == TIDEPOOL_OK);
  tidepool_step step{.struct_size = sizeof(tidepool_step)};
  tidepool_totals totals{.struct_size = sizeof(tidepool_totals)};
  std::vector<std::size_t> shares;
  int result = 0;
  while ((result = tidepool_next_step(job, &step)) == TIDEPOOL_STEP) {
    CHECK(step.number == static_cast<int64_t>(shares.size()));
    CHECK(step.size == 1);
    shares.push_back(step.sample_count);
    *gradient = static_cast<float>(step.sample_count);
    REQUIRE(tidepool_reduce(job, 2.0 * static_cast<double>(step.sample_count), &totals) == TIDEPOOL_COMMIT);
    CHECK(totals.samples == step.sample_count);
    CHECK(totals.mean_loss == 2.0);
    parameter += *gradient / static_cast<float>(totals.samples);
    REQUIRE(tidepool_commit(job) == TIDEPOOL_OK);
  }
  CHECK(result == TIDEPOOL_FINISHED);
  CHECK(shares == std::vector<std::size_t>{8, 8, 4, 8, 8});
  CHECK(parameter == 5);
  CHECK(tidepool_close(job) == TIDEPOOL_FINISHED);
}

TEST_CASE("a program without a fixed number of steps says when it is done") {
  const tidepool_options options = options_for(0);
  tidepool_session* job = nullptr;
  REQUIRE(tidepool_open(&options, &job) == TIDEPOOL_OK);
  REQUIRE(tidepool_gradients(job, 4) != nullptr);
  REQUIRE(tidepool_join(job) == TIDEPOOL_OK);
  tidepool_step step{.struct_size = sizeof(tidepool_step)};
  tidepool_totals totals{.struct_size = sizeof(tidepool_totals)};
  REQUIRE(tidepool_next_step(job, &step) == TIDEPOOL_STEP);
  REQUIRE(tidepool_reduce(job, 0, &totals) == TIDEPOOL_COMMIT);
  REQUIRE(tidepool_commit(job) == TIDEPOOL_OK);
  REQUIRE(tidepool_finish(job) == TIDEPOOL_OK);
  CHECK(tidepool_next_step(job, &step) == TIDEPOOL_FINISHED);
  CHECK(tidepool_close(job) == TIDEPOOL_FINISHED);
}

TEST_CASE("calls out of order and bad arguments are refused in words") {
  tidepool_options options = options_for(5);
  tidepool_session* job = nullptr;
  CHECK(tidepool_open(nullptr, &job) == TIDEPOOL_INVALID);
  options.struct_size = 3;
  CHECK(tidepool_open(&options, &job) == TIDEPOOL_INVALID);
  CHECK(says("struct_size"));
  options.struct_size = sizeof options;
  options.samples = 0;
  CHECK(tidepool_open(&options, &job) == TIDEPOOL_INVALID);
  CHECK(says("no sample"));
  options.samples = 20;
  REQUIRE(tidepool_open(&options, &job) == TIDEPOOL_OK);
  tidepool_totals totals{.struct_size = sizeof(tidepool_totals)};
  tidepool_step step{.struct_size = sizeof(tidepool_step)};
  CHECK(tidepool_next_step(job, &step) == TIDEPOOL_INVALID);
  CHECK(tidepool_reduce(job, 0, &totals) == TIDEPOOL_INVALID);
  CHECK(tidepool_commit(job) == TIDEPOOL_INVALID);
  CHECK(says("TIDEPOOL_COMMIT"));
  REQUIRE(tidepool_gradients(job, 4) != nullptr);
  CHECK(tidepool_gradients(job, 5) == nullptr);
  REQUIRE(tidepool_join(job) == TIDEPOOL_OK);
  CHECK(tidepool_join(job) == TIDEPOOL_INVALID);
  float late = 0;
  CHECK(tidepool_register(job, "late", &late, sizeof late) == TIDEPOOL_INVALID);
  CHECK(tidepool_close(job) == TIDEPOOL_OK);
  CHECK(tidepool_close(nullptr) == TIDEPOOL_OK);
}

TEST_CASE("a piece of the state has bytes, and a name that no other has") {
  const tidepool_options options = options_for(5);
  tidepool_session* job = nullptr;
  REQUIRE(tidepool_open(&options, &job) == TIDEPOOL_OK);
  float parameter = 0;
  CHECK(tidepool_register(job, "weights", &parameter, 0) == TIDEPOOL_INVALID);
  CHECK(says("\"weights\" has 0 bytes"));
  CHECK(tidepool_register_device(job, "weights", &parameter, 0) == TIDEPOOL_INVALID);
  REQUIRE(tidepool_register(job, "weights", &parameter, sizeof parameter) == TIDEPOOL_OK);
  float other = 0;
  CHECK(tidepool_register(job, "weights", &other, sizeof other) == TIDEPOOL_INVALID);
  CHECK(says("\"weights\" is registered already"));
  CHECK(tidepool_register_device(job, "weights", &other, sizeof other) == TIDEPOOL_INVALID);
  CHECK(says("is registered already"));
  CHECK(tidepool_register(job, "bias", &other, sizeof other) == TIDEPOOL_OK);
  CHECK(tidepool_close(job) == TIDEPOOL_OK);
}

TEST_CASE("the words of an error stay in place, and stand until the next call that fails") {
  const tidepool_options options = options_for(5);
  tidepool_session* job = nullptr;
  REQUIRE(tidepool_open(&options, &job) == TIDEPOOL_OK);
  const char* words = tidepool_last_error();
  CHECK(tidepool_commit(job) == TIDEPOOL_INVALID);
  CHECK(std::string(words).find("TIDEPOOL_COMMIT") != std::string::npos);
  float parameter = 0;
  REQUIRE(tidepool_register(job, "parameter", &parameter, sizeof parameter) == TIDEPOOL_OK);
  CHECK(std::string(words).find("TIDEPOOL_COMMIT") != std::string::npos);
  const std::string long_name = std::string(2'000, 'n') + "\u00e9";
  CHECK(tidepool_register(job, long_name.c_str(), &parameter, 0) == TIDEPOOL_INVALID);
  CHECK(tidepool_last_error() == words);
  CHECK(std::string(words) == "\"" + std::string(1'022, 'n'));
  CHECK(tidepool_close(job) == TIDEPOOL_OK);
}

TEST_CASE("an agent's socket without a worker id is a mistake, not a worker alone") {
  const tidepool_options options = options_for(5);
  ::setenv("TIDEPOOL_AGENT_SOCKET", "/nowhere/agent.sock", 1);
  ::unsetenv("TIDEPOOL_WORKER");
  tidepool_session* job = nullptr;
  CHECK(tidepool_open(&options, &job) == TIDEPOOL_INVALID);
  CHECK(says("TIDEPOOL_WORKER"));
  ::unsetenv("TIDEPOOL_AGENT_SOCKET");
}

TEST_CASE("a worker that has not been told to leave has no notice, and none to answer") {
  const tidepool_options options = options_for(5);
  tidepool_session* job = nullptr;
  REQUIRE(tidepool_open(&options, &job) == TIDEPOOL_OK);
  tidepool_leave_notice notice{.struct_size = sizeof(tidepool_leave_notice)};
  CHECK(tidepool_notice(job, nullptr) == TIDEPOOL_INVALID);
  CHECK(tidepool_notice(job, &notice) == TIDEPOOL_OK);
  CHECK(tidepool_answer(job, 5, 0) == TIDEPOOL_INVALID);
  CHECK(says("TIDEPOOL_ANSWER_"));
  CHECK(tidepool_answer(job, TIDEPOOL_ANSWER_UNTIL, 1'000) == TIDEPOOL_INVALID);
  CHECK(says("has passed"));
  CHECK(tidepool_answer(job, TIDEPOOL_ANSWER_UNTIL, INT64_MAX) == TIDEPOOL_INVALID);
  CHECK(says("has not been told to leave"));
  CHECK(tidepool_answer(job, TIDEPOOL_ANSWER_DONE, 0) == TIDEPOOL_INVALID);
  CHECK(tidepool_close(job) == TIDEPOOL_OK);
}

TEST_CASE("a caller built with an older, shorter struct is served within its length") {
  const tidepool_options options = options_for(5);
  tidepool_session* job = nullptr;
  REQUIRE(tidepool_open(&options, &job) == TIDEPOOL_OK);
  REQUIRE(tidepool_gradients(job, 1) != nullptr);
  REQUIRE(tidepool_join(job) == TIDEPOOL_OK);
  tidepool_step step{.struct_size = offsetof(tidepool_step, rank), .rank = -7, .generation = 99};
  REQUIRE(tidepool_next_step(job, &step) == TIDEPOOL_STEP);
  CHECK(step.sample_count == 8);
  CHECK(step.rank == -7);
  CHECK(step.generation == 99);
  CHECK(tidepool_close(job) == TIDEPOOL_OK);
}

TEST_CASE("a program's own rule says batch and learning rate, and a share is computed in parts") {
  tidepool_options options = options_for(3);
  int asked = 0;
  options.on_resize = TIDEPOOL_ON_RESIZE_CALLBACK;
  options.per_worker_max = 4;
  options.warmup_steps = 2;
  options.resize_user = &asked;
  options.resize_rule = [](void* user, tidepool_resize* resize) {
    ++*static_cast<int*>(user);
    CHECK(resize->struct_size == sizeof(tidepool_resize));
    CHECK(resize->size == 1);
    CHECK(resize->step == 0);
    CHECK(resize->noise_scale < 0);
    CHECK(resize->global_batch == 0);
    resize->global_batch = 10;
    resize->lr_factor = 3;
  };
  tidepool_session* job = nullptr;
  REQUIRE(tidepool_open(&options, &job) == TIDEPOOL_OK);
  REQUIRE(tidepool_gradients(job, 1) != nullptr);
  REQUIRE(tidepool_join(job) == TIDEPOOL_OK);
  CHECK(asked == 1);
  tidepool_step step{.struct_size = sizeof(tidepool_step)};
  tidepool_totals totals{.struct_size = sizeof(tidepool_totals)};
  std::vector<double> factors;
  while (tidepool_next_step(job, &step) == TIDEPOOL_STEP) {
    CHECK(step.global_batch == 10);
    CHECK(step.sample_count == 10);
    CHECK(step.part == 4);
    factors.push_back(step.lr_factor);
    REQUIRE(tidepool_reduce(job, 1, &totals) == TIDEPOOL_COMMIT);
    REQUIRE(tidepool_commit(job) == TIDEPOOL_OK);
  }
  CHECK(factors == std::vector<double>{2, 3, 3});
  CHECK(tidepool_close(job) == TIDEPOOL_FINISHED);
}

TEST_CASE("the rule that a program must bring is asked for when it opens its session") {
  tidepool_options options = options_for(3);
  options.on_resize = TIDEPOOL_ON_RESIZE_CALLBACK;
  tidepool_session* job = nullptr;
  CHECK(tidepool_open(&options, &job) == TIDEPOOL_INVALID);
  CHECK(says("no function that says the batch"));
}
