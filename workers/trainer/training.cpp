#include "workers/trainer/training.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "workers/trainer/charlm.hpp"
#include "workers/trainer/data_files.hpp"
#include "workers/trainer/mlp.hpp"
#include "workers/trainer/sgd.hpp"
#include "workers/trainer/slowdown.hpp"

namespace tidepool::trainer {
namespace {

// In parts of at most `part` samples.
double compute(Model& model, std::span<const std::uint64_t> samples, std::size_t part, std::span<float> gradient) {
  std::fill(gradient.begin(), gradient.end(), 0.0F);
  double loss = 0;
  while (!samples.empty()) {
    const std::size_t count = std::min(samples.size(), part);
    loss += model.add_gradient(samples.first(count), gradient);
    samples = samples.subspan(count);
  }
  return loss;
}

// Computes again what is thrown away: whole rounds, then a share of the samples.
void waste(Model& model, const runtime::Step& step, double rounds, std::size_t part) {
  std::vector<float> unused(model.parameters().size());
  for (; rounds > 0; rounds -= 1) {
    const auto count = static_cast<std::size_t>(std::min(1.0, rounds) * static_cast<double>(step.samples.size()));
    static_cast<void>(compute(model, std::span(step.samples).first(count), part, unused));
  }
}

std::string own_worker_id() {
  const char* name = std::getenv("TIDEPOOL_WORKER");
  return name == nullptr ? "w-1" : name;
}

}  // namespace

Result<runtime::Ending> train(runtime::Session& session, Model& model, const Settings& settings,
                              const std::function<void(const StepReport&)>& observe) {
  const std::span<float> parameters = model.parameters();
  Sgd optimizer(settings.lr, settings.momentum, parameters.size());
  Slowdown slowdown(settings.slowdown, own_worker_id());
  const auto part = static_cast<std::size_t>(settings.per_worker_max);
  session.register_values("parameters", parameters);
  session.register_values("momentum", optimizer.state());
  TP_TRY(session.join());
  const std::span<float> gradient = session.gradients(parameters.size());
  while (const auto step = session.next_step()) {
    waste(model, *step, slowdown.factor(step->number) - 1, part);
    const double loss = compute(model, step->samples, part, gradient);
    if (session.reduce(loss) == runtime::Reduced::kRetry) continue;
    optimizer.apply(gradient, {.samples = session.totals().samples}, parameters);
    session.commit();
    if (observe) {
      observe({.steps = session.steps_committed(),
               .loss = session.totals().mean_loss,
               .rank = session.rank(),
               .size = session.size()});
    }
  }
  if (session.ending() == runtime::Ending::kFailed) return session.failure();
  return session.ending();
}

Result<std::unique_ptr<Model>> build_model(const Settings& settings, const std::string& folder) {
  auto text = read_data_files(folder, settings.data);
  if (!text.ok()) return text.error();
  if (settings.model == "charlm") {
    auto model = CharLm::create({.context = settings.context,
                                 .embedding = settings.embedding,
                                 .hidden = settings.hidden,
                                 .seed = settings.seed},
                                *std::move(text));
    if (!model.ok()) return model.error();
    return std::unique_ptr<Model>(std::move(*model));
  }
  auto table = read_csv(*text, settings.label);
  if (!table.ok()) return table.error();
  return std::unique_ptr<Model>(std::make_unique<Mlp>(*std::move(table), settings.hidden, settings.seed));
}

}  // namespace tidepool::trainer
