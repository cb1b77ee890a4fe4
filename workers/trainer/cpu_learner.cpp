#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "workers/trainer/learner.hpp"

namespace tidepool::trainer {
namespace {

class CpuLearner final : public Learner {
 public:
  CpuLearner(Model& model, const LearnerOptions& options)
      : model_(model),
        blocks_(flat_blocks(options.shape)),
        optimizer_(options.lr, options.momentum, model.parameters().size()) {
    TP_CHECK(blocks_.back().first + blocks_.back().count == model.parameters().size(), "the shape is the model's");
  }

  Status enlist(runtime::Session& session) override {
    for (const FlatBlock& block : blocks_) {
      session.register_values(std::string(block.name), model_.parameters().subspan(block.first, block.count));
    }
    for (const FlatBlock& block : blocks_) {
      session.register_values(std::string(block.name) + ".velocity",
                              optimizer_.state().subspan(block.first, block.count));
    }
    gradient_ = session.gradients(model_.parameters().size());
    return ok_status();
  }

  double compute(runtime::Session& session, const BatchView& batch, std::size_t part) override {
    const double loss = add_parts(batch, part, gradient_);
    if (session.sums_on_device()) announce(session);
    return loss;
  }

  void waste(const BatchView& batch, std::size_t part) override {
    std::vector<float> unused(gradient_.size());
    static_cast<void>(add_parts(batch, part, unused));
  }

  void apply(const SgdStep& step) override { optimizer_.apply(gradient_, step, model_.parameters()); }

 private:
  double add_parts(const BatchView& batch, std::size_t part, std::span<float> gradient) {
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    double loss = 0;
    for (std::size_t begin = 0; begin < batch.samples(); begin += part) {
      loss += model_.add_gradient(batch.part(begin, std::min(part, batch.samples() - begin)), gradient);
    }
    return loss;
  }

  // Announces the same buckets as a GPU's backward pass: output layer, hidden layer, embeddings.
  void announce(runtime::Session& session) const {
    const auto bucket = [&](std::size_t block, std::size_t count) {
      std::size_t floats = 0;
      for (std::size_t i = block; i < block + count; ++i) floats += blocks_[i].count;
      if (floats > 0) TP_CHECK(session.bucket_ready(blocks_[block].first, floats).ok(), "each bucket is named once");
    };
    bucket(3, 2);
    bucket(1, 2);
    bucket(0, 1);
  }

  Model& model_;
  const std::array<FlatBlock, TIDEPOOL_GPU_BLOCKS> blocks_;
  Sgd optimizer_;
  std::span<float> gradient_;
};

}  // namespace

std::array<FlatBlock, TIDEPOOL_GPU_BLOCKS> flat_blocks(const tidepool_gpu_shape& shape) {
  const auto area = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  std::array<FlatBlock, TIDEPOOL_GPU_BLOCKS> blocks = {{
      {"embedding", 0, area(shape.vocabulary, shape.embedding)},
      {"hidden.weights", 0, area(shape.hidden, shape.inputs)},
      {"hidden.bias", 0, area(shape.hidden, 1)},
      {"output.weights", 0, area(shape.classes, shape.hidden)},
      {"output.bias", 0, area(shape.classes, 1)},
  }};
  for (std::size_t i = 1; i < blocks.size(); ++i) blocks[i].first = blocks[i - 1].first + blocks[i - 1].count;
  return blocks;
}

std::unique_ptr<Learner> make_cpu_learner(Model& model, const LearnerOptions& options) {
  return std::make_unique<CpuLearner>(model, options);
}

}  // namespace tidepool::trainer
