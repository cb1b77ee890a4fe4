// The net of trainer/dense_net.hpp on one GPU, with an embedding table before it if its inputs are tokens. Parameters,
// velocity and gradient stay in GPU memory; cuBLAS computes matrix products in plain fp32, the project's own kernels
// everything else.
//
// In GPU memory each block of parameters begins at a multiple of 256 bytes; in the flat buffer the blocks are
// contiguous, as on the CPU. All work is enqueued on one stream; calls that return numbers to the host wait for it.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <vector>

#include "workers/trainer/gpu/device_memory.hpp"
#include "workers/trainer/gpu/gpu_api.h"
#include "workers/trainer/gpu/kernels.hpp"

namespace tidepool::trainer::gpu {

// Offsets of the blocks and total lengths, in floats.
struct BlockLayout {
  enum Block { kTable, kW1, kB1, kW2, kB2, kBlocks };

  explicit BlockLayout(const tidepool_gpu_shape& shape);

  Segment blocks[kBlocks];
  std::size_t flat_floats = 0;
  std::size_t arena_floats = 0;
};

// The positions of every token that occurs in `tokens`, in ascending order; a counting sort.
struct TokenIndex {
  std::vector<int> different;
  std::vector<int> starts;
  std::vector<int> positions;
};
[[nodiscard]] TokenIndex index_tokens(const int* tokens, std::size_t count, int vocabulary);

// Called as runs of the flat gradient become final; without a function the gradient is not copied to the flat buffer.
struct Ready {
  tidepool_gpu_ready call = nullptr;
  void* user = nullptr;
};

class GpuNet {
 public:
  explicit GpuNet(const tidepool_gpu_shape& shape);
  ~GpuNet();
  GpuNet(const GpuNet&) = delete;
  GpuNet& operator=(const GpuNet&) = delete;

  [[nodiscard]] std::size_t parameter_count() const { return layout_.flat_floats; }
  void set_parameters(const float* flat);
  void get_parameters(float* flat);
  void clear_gradient();
  [[nodiscard]] double add_gradient(const tidepool_gpu_batch& batch, Ready ready = {});
  void get_gradient(float* flat);
  void sgd(float keep, float rate);
  // sgd() with the flat gradient; does not wait.
  void apply(float keep, float rate);
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] float* flat_gradient() const { return flat_gradient_.data(); }
  void describe(tidepool_gpu_block* blocks) const;

 private:
  void upload(const tidepool_gpu_batch& batch);
  void forward(int samples);
  void backward(const tidepool_gpu_batch& batch, Ready ready);
  // Call when blocks [first, first + count) of the gradient are complete on the stream.
  void complete(BlockLayout::Block first, int count, Ready ready);
  // c = op(a) x op(b) + add x c, all column-major.
  struct Product {
    const float* a = nullptr;
    const float* b = nullptr;
    float* c = nullptr;
    int rows = 0;
    int columns = 0;
    int inner = 0;
    bool a_transposed = false;
    bool b_transposed = false;
    float add = 0;
  };
  void multiply(const Product& product);
  void fetch_flat(const DeviceMemory<float>& arena, float* flat);
  void finish(const char* what);

  [[nodiscard]] float* parameter(BlockLayout::Block block) const {
    return parameters_.data() + layout_.blocks[block].arena;
  }
  [[nodiscard]] float* gradient(BlockLayout::Block block) const {
    return gradient_.data() + layout_.blocks[block].arena;
  }
  [[nodiscard]] bool embeds() const { return shape_.vocabulary > 0; }

  tidepool_gpu_shape shape_;
  BlockLayout layout_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  SegmentTable segments_;

  DeviceMemory<Segment> segment_memory_;
  DeviceMemory<float> parameters_;
  DeviceMemory<float> velocity_;
  DeviceMemory<float> gradient_;
  DeviceMemory<float> flat_;
  DeviceMemory<float> flat_gradient_;

  // Memory for one batch.
  DeviceMemory<float> inputs_;
  DeviceMemory<float> input_gradient_;
  DeviceMemory<float> hidden_;
  DeviceMemory<float> back_;
  DeviceMemory<float> scores_;
  DeviceMemory<float> losses_;
  DeviceMemory<double> loss_;
  DeviceMemory<int> classes_;
  DeviceMemory<int> tokens_;
  DeviceMemory<int> different_;
  DeviceMemory<int> starts_;
  DeviceMemory<int> positions_;
};

}  // namespace tidepool::trainer::gpu
