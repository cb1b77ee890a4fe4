#include "workers/trainer/training.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/check.hpp"
#include "workers/trainer/batch_loader.hpp"
#include "workers/trainer/charlm.hpp"
#include "workers/trainer/data_files.hpp"
#include "workers/trainer/gpu_learner.hpp"
#include "workers/trainer/mlp.hpp"
#include "workers/trainer/slowdown.hpp"
#include "workers/trainer/table_data.hpp"
#include "workers/trainer/text_data.hpp"
#include "workers/trainer/token_file.hpp"

namespace tidepool::trainer {
namespace {

constexpr int kNoiseEvery = 10;

// Repeats the computation and discards the results: whole rounds, then a part of the samples.
void waste(Learner& learner, const BatchView& batch, double rounds, std::size_t part) {
  for (; rounds > 0; rounds -= 1) {
    const auto count = static_cast<std::size_t>(std::min(1.0, rounds) * static_cast<double>(batch.samples()));
    learner.waste(batch.part(0, count), part);
  }
}

std::string own_worker_id() {
  const char* name = std::getenv("TIDEPOOL_WORKER");
  return name == nullptr ? "w-1" : name;
}

Result<std::unique_ptr<DataSet>> open_tokens(const Settings& settings, const std::filesystem::path& folder) {
  if (settings.data.size() == 1 && is_token_file(folder / settings.data[0])) {
    return TokenFile::open(folder / settings.data[0], settings.context);
  }
  for (const std::string& path : settings.data) {
    if (is_token_file(folder / path)) {
      return invalid_argument(path + " is a token file: it must be the only path of data");
    }
  }
  auto text = read_data_files(folder, settings.data);
  if (!text.ok()) return text.error();
  return TextData::create(*std::move(text), settings.context);
}

Result<Task> placed(Task task, const Settings& settings) {
  const LearnerOptions options{.shape = task.shape, .lr = settings.lr, .momentum = settings.momentum};
  const auto gpu = choose_device(settings.device);
  if (!gpu.ok()) return gpu.error();
  if (*gpu == nullptr) {
    task.learner = make_cpu_learner(*task.model, options);
    return task;
  }
  auto learner = make_gpu_learner(**gpu, *task.model, options);
  if (!learner.ok()) return learner.error();
  task.learner = *std::move(learner);
  return task;
}

}  // namespace

Result<Task> build_task(const Settings& settings, const std::string& folder) {
  Task task;
  if (settings.model == "charlm") {
    auto data = open_tokens(settings, folder);
    if (!data.ok()) return data.error();
    task.data = *std::move(data);
    const int classes = task.data->classes();
    task.shape = {.vocabulary = classes,
                  .embedding = settings.embedding,
                  .inputs = settings.context * settings.embedding,
                  .hidden = settings.hidden,
                  .classes = classes};
    task.model = std::make_unique<CharLm>(CharLmOptions{.context = settings.context,
                                                        .vocabulary = classes,
                                                        .embedding = settings.embedding,
                                                        .hidden = settings.hidden,
                                                        .seed = settings.seed});
    return placed(std::move(task), settings);
  }
  auto text = read_data_files(folder, settings.data);
  if (!text.ok()) return text.error();
  auto table = read_csv(*text, settings.label);
  if (!table.ok()) return table.error();
  task.data = std::make_unique<TableData>(*std::move(table));
  const DenseShape shape{.inputs = task.data->inputs(), .hidden = settings.hidden, .classes = task.data->classes()};
  task.shape = {.inputs = shape.inputs, .hidden = shape.hidden, .classes = shape.classes};
  task.model = std::make_unique<Mlp>(shape, settings.seed);
  return placed(std::move(task), settings);
}

void apply_settings(const Settings& settings, const DataSet& data, runtime::SessionOptions& options) {
  options.samples = data.samples();
  options.global_batch = static_cast<std::uint64_t>(settings.global_batch);
  options.per_worker_max = static_cast<std::uint64_t>(settings.per_worker_max);
  options.on_resize = settings.on_resize;
  options.base_size = settings.base_size;
  options.global_batch_max = static_cast<std::uint64_t>(settings.global_batch_max);
  options.warmup_steps = settings.warmup_steps;
  // The measurement reads the gradient twice: far less than a tenth of a step in every tenth step.
  options.noise_every = kNoiseEvery;
  options.seed = settings.seed;
  options.steps = settings.steps;
}

Result<runtime::Ending> train(runtime::Session& session, Task& task, const Settings& settings,
                              const std::function<void(const StepReport&)>& observe) {
  TP_CHECK(task.learner != nullptr, "a task is trained by its learner");
  Learner& learner = *task.learner;
  Slowdown slowdown(settings.slowdown, own_worker_id());
  BatchLoader loader(*task.data);
  TP_TRY(learner.enlist(session));
  TP_TRY(session.join());
  while (const auto step = session.next_step()) {
    const auto batch = loader.take(step->samples);
    if (!batch.ok()) return batch.error();
    loader.expect(session.expected_samples());
    waste(learner, *batch, slowdown.factor(step->number) - 1, step->part);
    const double loss = learner.compute(session, *batch, step->part);
    if (session.reduce(loss) == runtime::Reduced::kRetry) continue;
    learner.apply(
        {.samples = session.totals().samples, .lr_factor = step->lr_factor, .momentum_factor = step->momentum_factor});
    session.commit();
    if (observe) {
      observe({.steps = session.steps_committed(),
               .loss = session.totals().mean_loss,
               .samples = session.totals().samples,
               .rank = session.rank(),
               .size = session.size()});
    }
  }
  if (session.ending() == runtime::Ending::kFailed) return session.failure();
  return session.ending();
}

}  // namespace tidepool::trainer
