// The arithmetic of the GPU kernels, for one element. The kernels compile it for the GPU and the tests for the CPU, so
// that what a kernel computes can be checked without a GPU.
//
// Sums are taken in a fixed order that depends on the shape alone, never on timing: a kernel gives the same bits twice.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define TP_HOST_DEVICE __host__ __device__ inline
#else
#define TP_HOST_DEVICE inline
#endif

namespace tidepool::trainer::gpu {

// The running softmax of Milakov and Gimelshein ("Online normalizer calculation for softmax", 2018, algorithm 3): the
// largest score so far and the sum of exp(score - largest). exp() never sees a positive number, so nothing overflows.
struct SoftmaxPart {
  float largest = -INFINITY;
  float sum = 0.0F;
};

TP_HOST_DEVICE SoftmaxPart softmax_merge(SoftmaxPart a, SoftmaxPart b) {
  const float largest = a.largest > b.largest ? a.largest : b.largest;
  if (largest == -INFINITY) return {};  // both are empty, or all scores are -infinity
  return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

TP_HOST_DEVICE SoftmaxPart softmax_add(SoftmaxPart part, float score) {
  return softmax_merge(part, SoftmaxPart{score, 1.0F});
}

// Derivative of the cross-entropy by this score: probability, minus one for the right class.
TP_HOST_DEVICE float cross_entropy_gradient(SoftmaxPart all, float score, bool right) {
  return expf(score - all.largest) / all.sum - (right ? 1.0F : 0.0F);
}

// -log of the right class's probability, computed without the probability itself, which may be too small for a float.
TP_HOST_DEVICE float cross_entropy(SoftmaxPart all, float right_score) {
  return logf(all.sum) - (right_score - all.largest);
}

TP_HOST_DEVICE float tanh_forward(float sum, float bias) {
  return tanhf(sum + bias);
}

// `output` is the result of tanh.
TP_HOST_DEVICE float tanh_backward(float gradient, float output) {
  return gradient * (1.0F - output * output);
}

// One element of trainer/sgd.hpp: keep = momentum x momentum_factor, rate = lr x lr_factor / samples. The momentum
// factor compensates a changed learning rate (Lin et al., "Dynamic Mini-batch SGD for Elastic Distributed Training").
struct SgdElement {
  float velocity;
  float parameter;
};
TP_HOST_DEVICE SgdElement sgd_element(SgdElement before, float gradient_sum, float keep, float rate) {
  const float velocity = keep * before.velocity + rate * gradient_sum;
  return {velocity, before.parameter - velocity};
}

// Where a run of floats is in the flat buffer that workers exchange, and where in the net's own memory, in which blocks
// begin at multiples of kBlockAlign floats.
struct Segment {
  unsigned long long flat = 0;
  unsigned long long arena = 0;
  unsigned long long count = 0;
};
inline constexpr unsigned long long kBlockAlign = 64;

TP_HOST_DEVICE unsigned long long aligned(unsigned long long floats) {
  return (floats + kBlockAlign - 1) / kBlockAlign * kBlockAlign;
}

}  // namespace tidepool::trainer::gpu
