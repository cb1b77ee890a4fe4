#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

#include "workers/runtime/session.hpp"
#include "workers/trainer/charlm.hpp"
#include "workers/trainer/mlp.hpp"
#include "workers/trainer/training.hpp"

namespace tidepool::trainer {
namespace {

std::string text_like_a_readme() {
  const std::vector<std::string> words = {"tide", "pool",   "worker", "the",     "a",   "step", "switch", "grows",
                                          "job",  "leaves", "slot",   "shrinks", "and", "then", "daemon", "decides"};
  Rng rng(11);
  std::string text;
  while (text.size() < 6'000) {
    text += words[rng.below(words.size())];
    text += rng.chance(0.1) ? ".\n" : " ";
  }
  return text;
}

Mlp two_clouds() {
  Rng rng(5);
  std::string csv;
  for (int i = 0; i < 200; ++i) {
    const bool upper = i % 2 == 0;
    csv += std::to_string(rng.normal() + (upper ? 2 : -2)) + "," + std::to_string(rng.normal()) + "," +
           (upper ? "up" : "down") + "\n";
  }
  auto table = read_csv(csv, "");
  REQUIRE(table.ok());
  return Mlp(*std::move(table), 8, 3);
}

// Central differences in the direction of each tested parameter.
void check_gradient(Model& model, const std::vector<std::uint64_t>& batch) {
  const std::span<float> parameters = model.parameters();
  std::vector<float> gradient(parameters.size());
  static_cast<void>(model.add_gradient(batch, gradient));
  std::vector<float> unused(parameters.size());
  Rng rng(2);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t at = rng.below(parameters.size());
    const float kept = parameters[at];
    const float step = 1e-2F;
    parameters[at] = kept + step;
    const double above = model.add_gradient(batch, unused);
    parameters[at] = kept - step;
    const double below = model.add_gradient(batch, unused);
    parameters[at] = kept;
    const double slope = (above - below) / (2.0 * static_cast<double>(step));
    CAPTURE(at);
    CHECK(static_cast<double>(gradient[at]) == Approx(slope).epsilon(0.02).margin(0.02));
  }
}

double train_alone(Model& model, Settings settings, double* first) {
  auto session = runtime::Session::open({.samples = model.samples(),
                                         .global_batch = static_cast<std::uint64_t>(settings.global_batch),
                                         .steps = settings.steps});
  REQUIRE(session.ok());
  double last = 0;
  const auto ending = train(**session, model, settings, [&](const StepReport& report) {
    if (report.steps == 1) *first = report.loss;
    last = report.loss;
  });
  REQUIRE(ending.ok());
  CHECK(*ending == runtime::Ending::kFinished);
  return last;
}

}  // namespace

TEST_CASE("the gradient of charlm is the slope of its loss") {
  auto model = CharLm::create({.context = 3, .embedding = 4, .hidden = 7}, text_like_a_readme());
  REQUIRE(model.ok());
  check_gradient(**model, {0, 5, 17, 40, 41, 1'000});
}

TEST_CASE("the gradient of mlp is the slope of its loss") {
  Mlp model = two_clouds();
  check_gradient(model, {0, 1, 2, 3, 50, 199});
}

TEST_CASE("gradients of the parts of a batch add up to the gradient of the whole") {
  auto model = CharLm::create({.context = 3, .embedding = 4, .hidden = 7}, text_like_a_readme());
  REQUIRE(model.ok());
  std::vector<std::uint64_t> batch(30);
  std::iota(batch.begin(), batch.end(), 100);
  std::vector<float> whole((*model)->parameters().size());
  std::vector<float> parts(whole.size());
  const double loss = (*model)->add_gradient(batch, whole);
  double part_loss = (*model)->add_gradient(std::span(batch).first(11), parts);
  part_loss += (*model)->add_gradient(std::span(batch).subspan(11), parts);
  part_loss += (*model)->add_gradient({}, parts);
  CHECK(part_loss == Approx(loss));
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(parts[i] == Approx(whole[i]).margin(1e-4));
}

TEST_CASE("with the default settings the loss of charlm falls by more than a third") {
  auto model = CharLm::create({.hidden = 32}, text_like_a_readme());
  REQUIRE(model.ok());
  double first = 0;
  const double last = train_alone(**model, {.model = "charlm", .steps = 150, .global_batch = 128}, &first);
  // Before it has learned anything, every byte is about equally likely.
  CHECK(first == Approx(std::log((*model)->vocabulary())).epsilon(0.2));
  CHECK(last < first * 2 / 3);
}

TEST_CASE("mlp learns to tell two clouds apart") {
  Mlp model = two_clouds();
  double first = 0;
  const double last = train_alone(model, {.model = "mlp", .steps = 100, .global_batch = 50}, &first);
  CHECK(last < 0.2);
  CHECK(last < first);
}

TEST_CASE("the same seed gives the same parameters, another seed gives others") {
  const auto parameters = [](std::uint64_t seed) {
    auto model = CharLm::create({.hidden = 4, .seed = seed}, text_like_a_readme());
    REQUIRE(model.ok());
    const auto span = (*model)->parameters();
    return std::vector<float>(span.begin(), span.end());
  };
  CHECK(parameters(1) == parameters(1));
  CHECK(parameters(1) != parameters(2));
}

TEST_CASE("a text with nothing to learn is refused") {
  CHECK(!CharLm::create({.context = 5}, "abc").ok());
  CHECK(!CharLm::create({.context = 5}, std::string(100, 'x')).ok());
}

}  // namespace tidepool::trainer
