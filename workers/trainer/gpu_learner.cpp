#include "workers/trainer/gpu_learner.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "base/check.hpp"
#include "workers/runtime/log.hpp"
#include "workers/trainer/gpu/gpu_library.hpp"
#include "workers/trainer/learner.hpp"

namespace tidepool::trainer {
namespace {

class GpuLearner final : public Learner {
 public:
  GpuLearner(const tidepool_gpu_api& gpu, tidepool_gpu_net* net, const LearnerOptions& options)
      : gpu_(gpu), net_(net), options_(options) {}
  ~GpuLearner() override { gpu_.close(net_); }

  Status enlist(runtime::Session& session) override {
    TP_TRY(session.use_stream(gpu_.stream(net_)));
    tidepool_gpu_block blocks[TIDEPOOL_GPU_BLOCKS];
    gpu_.blocks(net_, blocks);
    const auto names = flat_blocks(options_.shape);
    const auto enlist_all = [&](const char* suffix, float* tidepool_gpu_block::* memory) -> Status {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const std::span<float> values(blocks[i].*memory, blocks[i].count);
        TP_TRY(session.register_on_device(names[i].name + std::string(suffix), std::as_writable_bytes(values)));
      }
      return ok_status();
    };
    TP_TRY(enlist_all("", &tidepool_gpu_block::parameters));
    TP_TRY(enlist_all(".velocity", &tidepool_gpu_block::velocity));
    return session.lend_gradients({gpu_.flat_gradient(net_), gpu_.parameter_count(net_)});
  }

  // The last part announces each bucket as soon as the backward pass has completed it.
  double compute(runtime::Session& session, const BatchView& batch, std::size_t part) override {
    must(gpu_.clear_gradient(net_), "a gradient on the GPU");
    std::size_t begin = 0;
    double loss = 0;
    for (; begin + part < batch.samples(); begin += part) loss += add(batch.part(begin, part));
    Announcing announcing{.session = session.sums_on_device() ? &session : nullptr, .status = ok_status()};
    const BatchView last = batch.part(begin, batch.samples() - begin);
    const tidepool_gpu_batch on_gpu = view_of(last);
    double last_loss = 0;
    must(gpu_.add_last_gradient(net_, &on_gpu, &last_loss, &announce, &announcing), "a gradient on the GPU");
    if (!announcing.status.ok()) throw std::runtime_error(announcing.status.error().message);
    return loss + last_loss;
  }

  void waste(const BatchView& batch, std::size_t part) override {
    for (std::size_t begin = 0; begin < batch.samples(); begin += part) {
      static_cast<void>(add(batch.part(begin, std::min(part, batch.samples() - begin))));
    }
  }

  void apply(const SgdStep& step) override {
    TP_CHECK(step.samples > 0, "a step has samples");
    const auto keep = static_cast<float>(options_.momentum * step.momentum_factor);
    const auto rate = static_cast<float>(options_.lr * step.lr_factor / static_cast<double>(step.samples));
    must(gpu_.apply(net_, keep, rate), "a step of SGD on the GPU");
  }

 private:
  struct Announcing {
    runtime::Session* session = nullptr;  // null: single buckets are not announced
    Status status;
  };

  static void announce(void* user, std::size_t first, std::size_t count) {
    auto* announcing = static_cast<Announcing*>(user);
    if (announcing->session == nullptr || !announcing->status.ok()) return;
    announcing->status = announcing->session->bucket_ready(first, count);
  }

  static tidepool_gpu_batch view_of(const BatchView& batch) {
    return {.numbers = batch.numbers.data(),
            .tokens = batch.tokens.data(),
            .classes = batch.classes.data(),
            .samples = static_cast<int>(batch.samples())};
  }

  double add(const BatchView& batch) {
    const tidepool_gpu_batch part = view_of(batch);
    double loss = 0;
    must(gpu_.add_gradient(net_, &part, &loss), "a gradient on the GPU");
    return loss;
  }

  void must(int code, const char* what) const {
    if (code != 0) throw std::runtime_error(gpu_error(gpu_, what).message);
  }

  const tidepool_gpu_api& gpu_;
  tidepool_gpu_net* net_;
  const LearnerOptions options_;
};

}  // namespace

Result<std::unique_ptr<Learner>> make_gpu_learner(const tidepool_gpu_api& gpu, Model& initial,
                                                  const LearnerOptions& options) {
  tidepool_gpu_net* net = nullptr;
  if (gpu.open(&options.shape, &net) != 0) return gpu_error(gpu, "the model does not fit this GPU");
  auto learner = std::make_unique<GpuLearner>(gpu, net, options);
  TP_CHECK(gpu.parameter_count(net) == initial.parameters().size(), "CPU and GPU agree on what the parameters are");
  if (gpu.set_parameters(net, initial.parameters().data()) != 0) {
    return gpu_error(gpu, "the parameters do not reach the GPU");
  }
  return std::unique_ptr<Learner>(std::move(learner));
}

Result<const tidepool_gpu_api*> choose_device(Device device) {
  const char* given = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool has_gpu = given != nullptr && *given != '\0';
  const tidepool_gpu_api* const none = nullptr;
  if (device == Device::kCpu || (device == Device::kAuto && !has_gpu)) return none;
  const auto gpu = load_gpu_library();
  if (gpu.ok()) {
    runtime::log_info("training is computed on the GPU");
    return gpu;
  }
  if (device == Device::kGpu) return gpu.error();
  runtime::log_info("this worker has a GPU but computes on the CPU: " + gpu.error().message);
  return none;
}

}  // namespace tidepool::trainer
