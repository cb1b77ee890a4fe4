#include "workers/trainer/gpu/launch.hpp"
#include "workers/trainer/gpu/matmul.hpp"

namespace tidepool::trainer::gpu {
namespace {

constexpr int kTile = 64;   // rows and columns of c that a block computes
constexpr int kDepth = 16;  // part of the inner dimension that is in shared memory at a time
constexpr int kEach = 4;    // rows and columns of c that a thread computes
constexpr int kSide = kTile / kEach;

struct Tiles {
  float a[kDepth][kTile + 1];  // transposed; the additional column keeps its writes off a single bank
  float b[kDepth][kTile];
};

__device__ float at_or_zero(const float* matrix, int row, int column, int size) {
  return row < size && column < size ? matrix[static_cast<std::size_t>(row) * size + column] : 0.0F;
}

// kSide x kSide threads load kTile x kDepth numbers of each matrix.
__device__ void load(Tiles& tiles, const float* a, const float* b, int depth, int size) {
  const int thread = threadIdx.y * kSide + threadIdx.x;
  for (int i = thread; i < kTile * kDepth; i += kSide * kSide) {
    tiles.a[i % kDepth][i / kDepth] = at_or_zero(a, blockIdx.y * kTile + i / kDepth, depth + i % kDepth, size);
    tiles.b[i / kTile][i % kTile] = at_or_zero(b, depth + i / kTile, blockIdx.x * kTile + i % kTile, size);
  }
}

__device__ void multiply(const Tiles& tiles, float (&sums)[kEach][kEach]) {
#pragma unroll
  for (int k = 0; k < kDepth; ++k) {
    float left[kEach];
    float right[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) left[i] = tiles.a[k][threadIdx.y * kEach + i];
#pragma unroll
    for (int j = 0; j < kEach; ++j) right[j] = tiles.b[k][threadIdx.x + j * kSide];  // neighbours use other banks
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
      for (int j = 0; j < kEach; ++j) sums[i][j] += left[i] * right[j];
    }
  }
}

__global__ void tiled_kernel(const float* a, const float* b, float* c, int size) {
  __shared__ Tiles tiles;
  float sums[kEach][kEach] = {};
  for (int depth = 0; depth < size; depth += kDepth) {
    load(tiles, a, b, depth, size);
    __syncthreads();
    multiply(tiles, sums);
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const int row = blockIdx.y * kTile + threadIdx.y * kEach + i;
      const int column = blockIdx.x * kTile + threadIdx.x + j * kSide;
      if (row < size && column < size) c[static_cast<std::size_t>(row) * size + column] = sums[i][j];
    }
  }
}

}  // namespace

void multiply_tiled(const float* a, const float* b, float* c, int size, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>((size + kTile - 1) / kTile);
  launch(tiled_kernel, {dim3(tiles, tiles), dim3(kSide, kSide), stream}, a, b, c, size);
}

}  // namespace tidepool::trainer::gpu
