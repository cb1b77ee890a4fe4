// The whole net of the GPU against the CPU's: same parameters, same batches, same gradients; then several steps of
// training side by side. The kernels run on the CPU, cuBLAS is plain loops.
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "base/rng.hpp"
#include "workers/trainer/charlm.hpp"
#include "workers/trainer/gpu/gpu_net.hpp"
#include "workers/trainer/mlp.hpp"
#include "workers/trainer/sgd.hpp"

namespace tidepool::trainer::gpu {
namespace {

constexpr tidepool_gpu_shape kText = {.vocabulary = 11, .embedding = 5, .inputs = 15, .hidden = 9, .classes = 11};
constexpr tidepool_gpu_shape kTable = {.vocabulary = 0, .embedding = 0, .inputs = 6, .hidden = 33, .classes = 3};

Batch random_batch(const tidepool_gpu_shape& shape, int samples, std::uint64_t seed) {
  Rng rng(seed);
  Batch batch;
  const auto below = [&](int bound) { return static_cast<int>(rng.uniform() * bound); };
  for (int i = 0; i < samples; ++i) {
    const int numbers = shape.vocabulary == 0 ? shape.inputs : 0;
    const int tokens = shape.vocabulary == 0 ? 0 : shape.inputs / shape.embedding;
    for (int k = 0; k < numbers; ++k) batch.numbers.push_back(static_cast<float>(rng.normal()));
    for (int k = 0; k < tokens; ++k) batch.tokens.push_back(below(shape.vocabulary));
    batch.classes.push_back(below(shape.classes));
  }
  return batch;
}

tidepool_gpu_batch for_gpu(const Batch& batch) {
  return {.numbers = batch.numbers.data(),
          .tokens = batch.tokens.data(),
          .classes = batch.classes.data(),
          .samples = static_cast<int>(batch.classes.size())};
}

std::unique_ptr<Model> cpu_model(const tidepool_gpu_shape& shape) {
  if (shape.vocabulary == 0) {
    return std::make_unique<Mlp>(DenseShape{.inputs = shape.inputs, .hidden = shape.hidden, .classes = shape.classes},
                                 3);
  }
  return std::make_unique<CharLm>(CharLmOptions{.context = shape.inputs / shape.embedding,
                                                .vocabulary = shape.vocabulary,
                                                .embedding = shape.embedding,
                                                .hidden = shape.hidden,
                                                .seed = 3});
}

void check_close(const std::vector<float>& ours, std::span<const float> theirs) {
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(i);
    REQUIRE(ours[i] == Approx(theirs[i]).margin(2e-5).epsilon(1e-4));
  }
}

}  // namespace

TEST_CASE("the GPU's gradient and loss are the CPU's, and add up over parts") {
  const tidepool_gpu_shape shape = GENERATE(kText, kTable);
  CAPTURE(shape.vocabulary);
  const auto model = cpu_model(shape);
  GpuNet net(shape);
  REQUIRE(net.parameter_count() == model->parameters().size());
  net.set_parameters(model->parameters().data());
  std::vector<float> wanted(net.parameter_count());
  for (const int samples : {1, 17, 40}) {
    const Batch batch = random_batch(shape, samples, static_cast<std::uint64_t>(samples));
    const double loss = model->add_gradient(batch.view(), wanted);
    CHECK(net.add_gradient(for_gpu(batch)) == Approx(loss).epsilon(1e-5));
  }
  std::vector<float> got(net.parameter_count());
  net.get_gradient(got.data());
  check_close(got, wanted);
  net.clear_gradient();
  net.get_gradient(got.data());
  CHECK(got == std::vector<float>(got.size(), 0));
}

TEST_CASE("training on the GPU follows training on the CPU step by step") {
  const tidepool_gpu_shape shape = GENERATE(kText, kTable);
  const auto model = cpu_model(shape);
  Sgd optimizer(0.3, 0.9, model->parameters().size());
  GpuNet net(shape);
  net.set_parameters(model->parameters().data());
  std::vector<float> gradient(net.parameter_count());
  for (std::uint64_t step = 0; step < 8; ++step) {
    const Batch batch = random_batch(shape, 24, step);
    const SgdStep how{.samples = 24, .lr_factor = step < 4 ? 1.0 : 2.0, .momentum_factor = step == 4 ? 0.5 : 1.0};
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    const double loss = model->add_gradient(batch.view(), gradient);
    optimizer.apply(gradient, how, model->parameters());
    net.clear_gradient();
    CHECK(net.add_gradient(for_gpu(batch)) == Approx(loss).epsilon(1e-4));
    net.sgd(static_cast<float>(0.9 * how.momentum_factor), static_cast<float>(0.3 * how.lr_factor / 24));
    std::vector<float> parameters(net.parameter_count());
    net.get_parameters(parameters.data());
    check_close(parameters, model->parameters());
  }
}

TEST_CASE("an empty batch costs nothing, a shape without sense is refused") {
  GpuNet net(kTable);
  CHECK(net.add_gradient({}) == 0);
  CHECK_THROWS_AS(GpuNet({.vocabulary = 5, .embedding = 4, .inputs = 10, .hidden = 3, .classes = 5}),
                  std::invalid_argument);
}

}  // namespace tidepool::trainer::gpu
