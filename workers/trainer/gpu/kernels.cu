#include "workers/trainer/gpu/kernels.hpp"

#include "workers/trainer/gpu/launch.hpp"

namespace tidepool::trainer::gpu {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kWarp = 32;
constexpr int kTileColumns = 8;        // threads that share a row's sum
constexpr int kManyClasses = 1024;     // from this number on a whole block works on a column
constexpr unsigned kBlocksMax = 4096;  // more work is processed in strides

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

// One block per token: x along the row, y divides the positions.
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

// All lanes end with the same part: at each halving both partners add the same two numbers.
__device__ SoftmaxPart merge_in_warp(SoftmaxPart part) {
  for (int other = kWarp / 2; other > 0; other /= 2) {
    const SoftmaxPart theirs{__shfl_xor_sync(0xffffffffU, part.largest, other),
                             __shfl_xor_sync(0xffffffffU, part.sum, other)};
    part = softmax_merge(part, theirs);
  }
  return part;
}

__device__ SoftmaxPart merge_in_block(SoftmaxPart part) {
  __shared__ float largest[kThreads / kWarp];
  __shared__ float sum[kThreads / kWarp];
  part = merge_in_warp(part);
  if (blockDim.x == kWarp) return part;
  if (threadIdx.x % kWarp == 0) {
    largest[threadIdx.x / kWarp] = part.largest;
    sum[threadIdx.x / kWarp] = part.sum;
  }
  __syncthreads();
  SoftmaxPart all{};
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) all = softmax_merge(all, {largest[warp], sum[warp]});
  return all;
}

// One block per column; blockDim.x is kWarp or kThreads.
__global__ void softmax_kernel(float* scores, const float* bias, const int* classes, int rows, float* losses) {
  float* column = scores + static_cast<std::size_t>(blockIdx.x) * rows;
  const int right = classes[blockIdx.x];
  SoftmaxPart part{};
  for (int r = threadIdx.x; r < rows; r += blockDim.x) part = softmax_add(part, column[r] + bias[r]);
  const SoftmaxPart all = merge_in_block(part);
  if (threadIdx.x == 0) losses[blockIdx.x] = cross_entropy(all, column[right] + bias[right]);
  __syncthreads();  // the right class's score is overwritten only after the loss has been read
  for (int r = threadIdx.x; r < rows; r += blockDim.x) {
    column[r] = cross_entropy_gradient(all, column[r] + bias[r], r == right);
  }
}

// x along the rows, y divides the columns.
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
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
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

// blockIdx.y is the segment's index.
__global__ void copy_segments_kernel(const Segment* segments, const float* from, float* to, bool packs) {
  const Segment segment = segments[blockIdx.y];
  const float* source = from + (packs ? segment.arena : segment.flat);
  float* target = to + (packs ? segment.flat : segment.arena);
  for (std::size_t i = first_index(); i < segment.count; i += index_stride()) target[i] = source[i];
}

dim3 segment_grid(const SegmentTable& table) {
  return dim3(blocks_for(table.longest), static_cast<unsigned>(table.count));
}

const dim3 kSharedRows(kWarp, kTileColumns);

}  // namespace

void gather_embeddings(const float* table, const int* tokens, std::size_t count, int width, float* inputs,
                       cudaStream_t stream) {
  launch(gather_kernel, {blocks_for(count * width), kThreads, stream}, table, tokens, count, width, inputs);
}

void scatter_embeddings(const TokenPositions& where, const float* input_gradient, int width, float* table_gradient,
                        cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(where.different);
  launch(scatter_kernel, {blocks, kSharedRows, stream}, where, input_gradient, width, table_gradient);
}

void add_bias_tanh(float* hidden, const float* bias, int rows, int columns, cudaStream_t stream) {
  const std::size_t total = static_cast<std::size_t>(rows) * columns;
  launch(bias_tanh_kernel, {blocks_for(total), kThreads, stream}, hidden, bias, rows, total);
}

void through_tanh(float* gradient, const float* output, std::size_t count, cudaStream_t stream) {
  launch(through_tanh_kernel, {blocks_for(count), kThreads, stream}, gradient, output, count);
}

void softmax_cross_entropy(float* scores, const float* bias, const int* classes, int rows, int columns, float* losses,
                           cudaStream_t stream) {
  const unsigned threads = rows < kManyClasses ? kWarp : kThreads;
  launch(softmax_kernel, {static_cast<unsigned>(columns), threads, stream}, scores, bias, classes, rows, losses);
}

void add_row_sums(const float* matrix, int rows, int columns, float* sums, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((rows + kWarp - 1) / kWarp);
  launch(row_sums_kernel, {blocks, kSharedRows, stream}, matrix, rows, columns, sums);
}

void sum_of(const float* values, int count, double* total, cudaStream_t stream) {
  launch(sum_kernel, {1U, kThreads, stream}, values, count, total);
}

void sgd(const SgdMemory& memory, float keep, float rate, cudaStream_t stream) {
  const std::size_t quads = memory.count / 4;
  launch(sgd_kernel, {blocks_for(quads), kThreads, stream}, reinterpret_cast<float4*>(memory.parameters),
         reinterpret_cast<float4*>(memory.velocity), reinterpret_cast<const float4*>(memory.gradient), quads, keep,
         rate);
}

void pack(const SegmentTable& table, const float* arena, float* flat, cudaStream_t stream) {
  launch(copy_segments_kernel, {segment_grid(table), kThreads, stream}, table.segments, arena, flat, true);
}

void unpack(const SegmentTable& table, const float* flat, float* arena, cudaStream_t stream) {
  launch(copy_segments_kernel, {segment_grid(table), kThreads, stream}, table.segments, flat, arena, false);
}

}  // namespace tidepool::trainer::gpu
