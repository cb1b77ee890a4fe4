/* The interface of libtidepool-gpu.so, which contains everything that needs the CUDA compiler and cuBLAS. A program
 * loads it at run time, gets the table from tidepool_gpu(), and continues without it if it does not load.
 *
 * Calls return 0, or -1 with the reason in last_error(). Only one thread at a time uses a net. Buffers are ordinary
 * memory unless stated otherwise; parameters and gradients are flat, in the order of the CPU models: embedding table
 * (embedding x vocabulary, none if vocabulary is 0), W1 (hidden x inputs), b1, W2 (classes x hidden), b2, matrices
 * column-major. */
#ifndef TIDEPOOL_GPU_API_H
#define TIDEPOOL_GPU_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEPOOL_GPU_ABI 2

typedef struct tidepool_gpu_net tidepool_gpu_net;

typedef struct tidepool_gpu_shape {
  int vocabulary; /* 0: a sample's inputs are numbers; else tokens below it, `embedding` numbers each */
  int embedding;
  int inputs; /* numbers per sample after embedding: a multiple of `embedding` if there is one */
  int hidden;
  int classes;
} tidepool_gpu_shape;

typedef struct tidepool_gpu_batch {
  const float* numbers; /* inputs x samples, if vocabulary is 0 */
  const int* tokens;    /* (inputs / embedding) x samples, if it is not */
  const int* classes;
  int samples;
} tidepool_gpu_batch;

/* One block of the flat order, and its addresses on the GPU, valid as long as the net lives. */
typedef struct tidepool_gpu_block {
  size_t first; /* index of its first float in the flat order */
  size_t count; /* may be 0 */
  float* parameters;
  float* velocity;
} tidepool_gpu_block;
#define TIDEPOOL_GPU_BLOCKS 5

/* Called for a run of the flat gradient that is final once the net's stream has reached the current point. */
typedef void (*tidepool_gpu_ready)(void* user, size_t first, size_t count);

/* Figures of this GPU: gigabytes or billions of floating-point operations per second. */
typedef struct tidepool_gpu_figures {
  double copy_gbps;     /* plain copy within the GPU's memory, read and written bytes: the ceiling */
  double softmax_gbps;  /* softmax cross-entropy, forward and backward in one */
  double sgd_gbps;      /* SGD with momentum */
  double pack_gbps;     /* the net's memory to the flat buffer */
  double row_sums_gbps; /* bias gradients */
  double matmul_gflops; /* the project's tiled product in fp32 */
  double cublas_gflops; /* the same through cuBLAS */
  double matmul_error;  /* largest difference between the two, relative to the largest value */
} tidepool_gpu_figures;

typedef struct tidepool_gpu_api {
  int abi; /* TIDEPOOL_GPU_ABI */
  const char* (*last_error)(void);
  int (*devices)(int* count);
  int (*open)(const tidepool_gpu_shape* shape, tidepool_gpu_net** net);
  void (*close)(tidepool_gpu_net* net);
  size_t (*parameter_count)(const tidepool_gpu_net* net);
  int (*set_parameters)(tidepool_gpu_net* net, const float* flat);
  int (*get_parameters)(tidepool_gpu_net* net, float* flat);
  int (*clear_gradient)(tidepool_gpu_net* net);
  int (*add_gradient)(tidepool_gpu_net* net, const tidepool_gpu_batch* batch, double* loss);
  /* The same for a step's last part, which may have no samples: the gradient is copied to flat_gradient() run by run,
   * as the backward pass completes them, and `ready` is called after each run's copy is enqueued, always in the same
   * order: output layer, hidden layer, embeddings. */
  int (*add_last_gradient)(tidepool_gpu_net* net, const tidepool_gpu_batch* batch, double* loss,
                           tidepool_gpu_ready ready, void* user);
  int (*get_gradient)(tidepool_gpu_net* net, float* flat);
  /* velocity = keep x velocity + rate x gradient; parameters -= velocity; all within the GPU. */
  int (*sgd)(tidepool_gpu_net* net, float keep, float rate);
  /* The same with the gradient in flat_gradient(); enqueued without waiting. */
  int (*apply)(tidepool_gpu_net* net, float keep, float rate);
  /* The cudaStream_t on which all of the net's work is enqueued. */
  void* (*stream)(const tidepool_gpu_net* net);
  /* parameter_count() floats on the GPU. */
  float* (*flat_gradient)(const tidepool_gpu_net* net);
  void (*blocks)(const tidepool_gpu_net* net, tidepool_gpu_block blocks[TIDEPOOL_GPU_BLOCKS]);
  /* Product of two size x size matrices and a copy of `copy_bytes`; the kernels are measured if `kernels` is not 0. */
  int (*measure)(int size, size_t copy_bytes, int kernels, tidepool_gpu_figures* figures);
} tidepool_gpu_api;

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const tidepool_gpu_api*
tidepool_gpu(void);

#ifdef __cplusplus
}
#endif

#endif
