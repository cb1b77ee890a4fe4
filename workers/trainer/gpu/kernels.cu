#include "workers/trainer/gpu/kernels.hpp"

namespace tidepool::trainer::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kTileColumns = 8;       // threads that share a row's sum
constexpr int kManyClasses = 1024;    // from here on a whole block works on a column
constexpr unsigned kBlocksMax = 4096;  // more work is taken in strides

unsigned blocks_for(std::size_t threads_wanted) {
  const std::size_t blocks = (threads_wanted + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < kBlocksMax ? (blocks == 0 ? 1 : blocks) : kBlocksMax);
}

__device__ std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t index_stride() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

__global__ void gather_kernel(const float* table, const int* tokens, std::size_t count, int width, float* inputs) {
  const std::size_t total = count * width;
  for (std::size_t i = first_index(); i < total; i += index_stride()) {
    inputs[i] = table[static_cast<std::size_t>(tokens[i / width]) * width + i % width];
  }
}

// A block a token: x along the row, y shares the positions.
__global__ void scatter_kernel(TokenPositions where, const float* input_gradient, int width, float* table_gradient) {
  __shared__ float parts[kTileColumns][kWarp];
  const int begin = where.starts[blockIdx.x];
  const int end = where.starts[blockIdx.x + 1];
  for (int tile = 0; tile < width; tile += kWarp) {
    const int k = tile + threadIdx.x;
    float sum = 0;
    for (int p = begin + threadIdx.y; p < end && k < width; p += kTileColumns) {
      sum += input_gradient[static_cast<std::size_t>(where.positions[p]) * width + k];
    }
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && k < width) {
      float all = 0;
      for (int y = 0; y < kTileColumns; ++y) all += parts[y][threadIdx.x];
      table_gradient[static_cast<std::size_t>(where.tokens[blockIdx.x]) * width + k] += all;
    }
    __syncthreads();
  }
}

__global__ void bias_tanh_kernel(float* hidden, const float* bias, int rows, std::size_t total) {
  for (std::size_t i = first_index(); i < total; i += index_stride()) {
    hidden[i] = tanh_forward(hidden[i], bias[i % rows]);
  }
}

__global__ void through_tanh_kernel(float* gradient, const float* output, std::size_t count) {
  for (std::size_t i = first_index(); i < count; i += index_stride()) {
    gradient[i] = tanh_backward(gradient[i], output[i]);
  }
}

// All lanes end with the same part: at every halving both partners add the same two numbers.
__device__ SoftmaxPart merge_in_warp(SoftmaxPart part) {
  for (int other = kWarp / 2; other > 0; other /= 2) {
    const SoftmaxPart theirs{__shfl_xor_sync(0xffffffffU, part.largest, other),
                             __shfl_xor_sync(0xffffffffU, part.sum, other)};
    part = softmax_merge(part, theirs);
  }
  return part;
}

__device__ SoftmaxPart merge_in_block(SoftmaxPart part) {
  __shared__ SoftmaxPart of_warp[kThreads / kWarp];
  part = merge_in_warp(part);
  if (blockDim.x == kWarp) return part;
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = part;
  __syncthreads();
  SoftmaxPart all{};
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) all = softmax_merge(all, of_warp[warp]);
  return all;
}

// A block a column; blockDim.x is kWarp or kThreads.
__global__ void softmax_kernel(float* scores, const float* bias, const int* classes, int rows, float* losses) {
  float* column = scores + static_cast<std::size_t>(blockIdx.x) * rows;
  const int right = classes[blockIdx.x];
  SoftmaxPart part{};
  for (int r = threadIdx.x; r < rows; r += blockDim.x) part = softmax_add(part, column[r] + bias[r]);
  const SoftmaxPart all = merge_in_block(part);
  if (threadIdx.x == 0) losses[blockIdx.x] = cross_entropy(all, column[right] + bias[right]);
  __syncthreads();  // the right score is overwritten only after the loss has been taken
  for (int r = threadIdx.x; r < rows; r += blockDim.x) {
    column[r] = cross_entropy_gradient(all, column[r] + bias[r], r == right);
  }
}

// x along the rows, y shares the columns.
__global__ void row_sums_kernel(const float* matrix, int rows, int columns, float* sums) {
  __shared__ float parts[kTileColumns][kWarp];
  const int row = blockIdx.x * kWarp + threadIdx.x;
  float sum = 0;
  if (row < rows) {
    for (int i = threadIdx.y; i < columns; i += kTileColumns) sum += matrix[static_cast<std::size_t>(i) * rows + row];
  }
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && row < rows) {
    float all = 0;
    for (int y = 0; y < kTileColumns; ++y) all += parts[y][threadIdx.x];
    sums[row] += all;
  }
}

__global__ void sum_kernel(const float* values, int count, double* total) {
  __shared__ double parts[kThreads];
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += kThreads) sum += values[i];
  parts[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *total = parts[0];
}

__device__ void sgd_lane(float& parameter, float& velocity, float gradient, float keep, float rate) {
  const SgdElement after = sgd_element({velocity, parameter}, gradient, keep, rate);
  velocity = after.velocity;
  parameter = after.parameter;
}

__global__ void sgd_kernel(float4* parameters, float4* velocity, const float4* gradient, std::size_t count, float keep,
                           float rate) {
  for (std::size_t i = first_index(); i < count; i += index_stride()) {
    float4 p = parameters[i];
    float4 v = velocity[i];
    const float4 g = gradient[i];
    sgd_lane(p.x, v.x, g.x, keep, rate);
    sgd_lane(p.y, v.y, g.y, keep, rate);
    sgd_lane(p.z, v.z, g.z, keep, rate);
    sgd_lane(p.w, v.w, g.w, keep, rate);
    parameters[i] = p;
    velocity[i] = v;
  }
}

// blockIdx.y names the segment.
__global__ void copy_segments_kernel(const Segment* segments, const float* from, float* to, bool packs) {
  const Segment segment = segments[blockIdx.y];
  const float* source = from + (packs ? segment.arena : segment.flat);
  float* target = to + (packs ? segment.flat : segment.arena);
  for (std::size_t i = first_index(); i < segment.count; i += index_stride()) target[i] = source[i];
}

dim3 segment_grid(int count) {
  return dim3(kBlocksMax / 8, static_cast<unsigned>(count));
}

}  // namespace

void gather_embeddings(const float* table, const int* tokens, std::size_t count, int width, float* inputs,
                       cudaStream_t stream) {
  gather_kernel<<<blocks_for(count * width), kThreads, 0, stream>>>(table, tokens, count, width, inputs);
}

void scatter_embeddings(const TokenPositions& where, const float* input_gradient, int width, float* table_gradient,
                        cudaStream_t stream) {
  const dim3 block(kWarp, kTileColumns);
  scatter_kernel<<<static_cast<unsigned>(where.different), block, 0, stream>>>(where, input_gradient, width,
                                                                                table_gradient);
}

void add_bias_tanh(float* hidden, const float* bias, int rows, int columns, cudaStream_t stream) {
  const std::size_t total = static_cast<std::size_t>(rows) * columns;
  bias_tanh_kernel<<<blocks_for(total), kThreads, 0, stream>>>(hidden, bias, rows, total);
}

void through_tanh(float* gradient, const float* output, std::size_t count, cudaStream_t stream) {
  through_tanh_kernel<<<blocks_for(count), kThreads, 0, stream>>>(gradient, output, count);
}

void softmax_cross_entropy(float* scores, const float* bias, const int* classes, int rows, int columns, float* losses,
                           cudaStream_t stream) {
  const int threads = rows < kManyClasses ? kWarp : kThreads;
  softmax_kernel<<<static_cast<unsigned>(columns), threads, 0, stream>>>(scores, bias, classes, rows, losses);
}

void add_row_sums(const float* matrix, int rows, int columns, float* sums, cudaStream_t stream) {
  const dim3 block(kWarp, kTileColumns);
  row_sums_kernel<<<static_cast<unsigned>((rows + kWarp - 1) / kWarp), block, 0, stream>>>(matrix, rows, columns, sums);
}

void sum_of(const float* values, int count, double* total, cudaStream_t stream) {
  sum_kernel<<<1, kThreads, 0, stream>>>(values, count, total);
}

void sgd(const SgdMemory& memory, float keep, float rate, cudaStream_t stream) {
  const std::size_t quads = memory.count / 4;
  sgd_kernel<<<blocks_for(quads), kThreads, 0, stream>>>(
      reinterpret_cast<float4*>(memory.parameters), reinterpret_cast<float4*>(memory.velocity),
      reinterpret_cast<const float4*>(memory.gradient), quads, keep, rate);
}

void pack(const Segment* segments, int count, const float* arena, float* flat, cudaStream_t stream) {
  copy_segments_kernel<<<segment_grid(count), kThreads, 0, stream>>>(segments, arena, flat, true);
}

void unpack(const Segment* segments, int count, const float* flat, float* arena, cudaStream_t stream) {
  copy_segments_kernel<<<segment_grid(count), kThreads, 0, stream>>>(segments, flat, arena, false);
}

}  // namespace tidepool::trainer::gpu
