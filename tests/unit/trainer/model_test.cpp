#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

#include "workers/runtime/session.hpp"
#include "workers/trainer/charlm.hpp"
#include "workers/trainer/mlp.hpp"
#include "workers/trainer/table_data.hpp"
#include "workers/trainer/text_data.hpp"
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

Task reader_of(const std::string& text, CharLmOptions options = {.context = 3, .embedding = 4, .hidden = 7}) {
  auto data = TextData::create(text, options.context);
  REQUIRE(data.ok());
  options.vocabulary = (*data)->classes();
  return {.data = *std::move(data),
          .model = std::make_unique<CharLm>(options),
          .shape = {.vocabulary = options.vocabulary,
                    .embedding = options.embedding,
                    .inputs = options.context * options.embedding,
                    .hidden = options.hidden,
                    .classes = options.vocabulary}};
}

Task two_clouds() {
  Rng rng(5);
  std::string csv;
  for (int i = 0; i < 200; ++i) {
    const bool upper = i % 2 == 0;
    csv += std::to_string(rng.normal() + (upper ? 2 : -2)) + "," + std::to_string(rng.normal()) + "," +
           (upper ? "up" : "down") + "\n";
  }
  auto table = read_csv(csv, "");
  REQUIRE(table.ok());
  auto data = std::make_unique<TableData>(*std::move(table));
  const DenseShape shape{.inputs = data->inputs(), .hidden = 8, .classes = data->classes()};
  return {.data = std::move(data),
          .model = std::make_unique<Mlp>(shape, 3),
          .shape = {.inputs = shape.inputs, .hidden = shape.hidden, .classes = shape.classes}};
}

Batch batch_of(const Task& task, const std::vector<std::uint64_t>& samples) {
  Batch batch;
  REQUIRE(task.data->fill(samples, batch).ok());
  return batch;
}

// Central differences in the direction of each tested parameter.
void check_gradient(Task task, const std::vector<std::uint64_t>& samples) {
  Model& model = *task.model;
  const Batch batch = batch_of(task, samples);
  const std::span<float> parameters = model.parameters();
  std::vector<float> gradient(parameters.size());
  static_cast<void>(model.add_gradient(batch.view(), gradient));
  std::vector<float> unused(parameters.size());
  Rng rng(2);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t at = rng.below(parameters.size());
    const float kept = parameters[at];
    const float step = 1e-2F;
    parameters[at] = kept + step;
    const double above = model.add_gradient(batch.view(), unused);
    parameters[at] = kept - step;
    const double below = model.add_gradient(batch.view(), unused);
    parameters[at] = kept;
    const double slope = (above - below) / (2.0 * static_cast<double>(step));
    CAPTURE(at);
    CHECK(static_cast<double>(gradient[at]) == Approx(slope).epsilon(0.02).margin(0.02));
  }
}

double train_alone(Task& task, const Settings& settings, double* first) {
  task.learner = make_cpu_learner(*task.model, {.shape = task.shape, .lr = settings.lr, .momentum = settings.momentum});
  runtime::SessionOptions options;
  apply_settings(settings, *task.data, options);
  auto session = runtime::Session::open(options);
  REQUIRE(session.ok());
  double last = 0;
  const auto ending = train(**session, task, settings, [&](const StepReport& report) {
    if (report.steps == 1) *first = report.loss;
    last = report.loss;
  });
  REQUIRE(ending.ok());
  CHECK(*ending == runtime::Ending::kFinished);
  return last;
}

}  // namespace

TEST_CASE("the gradient of charlm is the slope of its loss") {
  check_gradient(reader_of(text_like_a_readme()), {0, 5, 17, 40, 41, 1'000});
}

TEST_CASE("the gradient of mlp is the slope of its loss") {
  check_gradient(two_clouds(), {0, 1, 2, 3, 50, 199});
}

TEST_CASE("gradients of the parts of a batch add up to the gradient of the whole") {
  const Task task = reader_of(text_like_a_readme());
  std::vector<std::uint64_t> samples(30);
  std::iota(samples.begin(), samples.end(), 100);
  const Batch batch = batch_of(task, samples);
  std::vector<float> whole(task.model->parameters().size());
  std::vector<float> parts(whole.size());
  const double loss = task.model->add_gradient(batch.view(), whole);
  double part_loss = task.model->add_gradient(batch.view().part(0, 11), parts);
  part_loss += task.model->add_gradient(batch.view().part(11, 19), parts);
  part_loss += task.model->add_gradient(batch.view().part(30, 0), parts);
  CHECK(part_loss == Approx(loss));
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(parts[i] == Approx(whole[i]).margin(1e-4));
}

TEST_CASE("with the default settings the loss of charlm falls by more than a third") {
  Task task = reader_of(text_like_a_readme(), {.hidden = 32});
  double first = 0;
  const double last = train_alone(task, {.model = "charlm", .steps = 150, .global_batch = 128}, &first);
  // Before it has learned anything, every byte is about equally likely.
  CHECK(first == Approx(std::log(task.data->classes())).epsilon(0.2));
  CHECK(last < first * 2 / 3);
}

TEST_CASE("mlp learns to tell two clouds apart") {
  Task task = two_clouds();
  double first = 0;
  const double last = train_alone(task, {.model = "mlp", .steps = 100, .global_batch = 50}, &first);
  CHECK(last < 0.2);
  CHECK(last < first);
}

TEST_CASE("the same seed gives the same parameters, another seed gives others") {
  const auto parameters = [](std::uint64_t seed) {
    CharLm model({.vocabulary = 9, .hidden = 4, .seed = seed});
    const auto span = model.parameters();
    return std::vector<float>(span.begin(), span.end());
  };
  CHECK(parameters(1) == parameters(1));
  CHECK(parameters(1) != parameters(2));
}

}  // namespace tidepool::trainer
