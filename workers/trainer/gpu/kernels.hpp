// Launchers of the project's own kernels: plain functions over device memory, asynchronous on a stream. Matrices are
// column-major.
//
// Every sum has a fixed order (lanes of a warp, then warps of a block, by halving), so results do not vary between
// runs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "workers/trainer/gpu/element_math.hpp"

namespace tidepool::trainer::gpu {

// inputs[i x width + k] = table[tokens[i] x width + k] for `count` tokens.
void gather_embeddings(const float* table, const int* tokens, std::size_t count, int width, float* inputs,
                       cudaStream_t stream);

// The positions of each token that occurs: token tokens[t] is at positions[starts[t]] to positions[starts[t + 1] - 1].
struct TokenPositions {
  const int* tokens = nullptr;
  const int* starts = nullptr;
  const int* positions = nullptr;
  int different = 0;
};
// Adds each token's rows of `input_gradient` (width x positions) to its row of `table_gradient`.
void scatter_embeddings(const TokenPositions& where, const float* input_gradient, int width, float* table_gradient,
                        cudaStream_t stream);

// hidden = tanh(hidden + bias), rows x columns.
void add_bias_tanh(float* hidden, const float* bias, int rows, int columns, cudaStream_t stream);

// gradient *= derivative of tanh at `output`.
void through_tanh(float* gradient, const float* output, std::size_t count, cudaStream_t stream);

// Replaces the scores by the gradient of the summed cross-entropy and sets losses[i] to the cross-entropy of column i;
// reads and writes the memory once each.
void softmax_cross_entropy(float* scores, const float* bias, const int* classes, int rows, int columns, float* losses,
                           cudaStream_t stream);

// sums[r] += sum over the columns of row r.
void add_row_sums(const float* matrix, int rows, int columns, float* sums, cudaStream_t stream);

// total = sum of `values`, in double.
void sum_of(const float* values, int count, double* total, cudaStream_t stream);

// Works on whole arenas, padding included.
struct SgdMemory {
  float* parameters = nullptr;
  float* velocity = nullptr;
  const float* gradient = nullptr;
  std::size_t count = 0;  // a multiple of four
};
void sgd(const SgdMemory& memory, float keep, float rate, cudaStream_t stream);

// Maps between the net's blocks and the flat buffer that workers exchange.
struct SegmentTable {
  const Segment* segments = nullptr;  // device memory
  int count = 0;
  std::size_t longest = 0;  // floats of the longest segment
};
void pack(const SegmentTable& table, const float* arena, float* flat, cudaStream_t stream);
void unpack(const SegmentTable& table, const float* flat, float* arena, cudaStream_t stream);

}  // namespace tidepool::trainer::gpu
