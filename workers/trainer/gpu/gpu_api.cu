#include "workers/trainer/gpu/gpu_api.h"

#include <cuda_runtime.h>

#include <string>

#include "workers/trainer/gpu/gpu_net.hpp"
#include "workers/trainer/gpu/measure.hpp"

struct tidepool_gpu_net {
  tidepool::trainer::gpu::GpuNet net;
};

namespace tidepool::trainer::gpu {
namespace {

thread_local std::string last_error_text;

// No exception may cross the C interface.
template <class Act>
int guarded(Act act) {
  try {
    act();
    return 0;
  } catch (const std::exception& error) {
    last_error_text = error.what();
    return -1;
  }
}

const char* last_error() {
  return last_error_text.c_str();
}

int devices(int* count) {
  return guarded([&] { check(cudaGetDeviceCount(count), "looking for GPUs"); });
}

int open(const tidepool_gpu_shape* shape, tidepool_gpu_net** net) {
  return guarded([&] { *net = new tidepool_gpu_net{GpuNet(*shape)}; });
}

void close(tidepool_gpu_net* net) {
  delete net;
}

size_t parameter_count(const tidepool_gpu_net* net) {
  return net->net.parameter_count();
}

int set_parameters(tidepool_gpu_net* net, const float* flat) {
  return guarded([&] { net->net.set_parameters(flat); });
}

int get_parameters(tidepool_gpu_net* net, float* flat) {
  return guarded([&] { net->net.get_parameters(flat); });
}

int clear_gradient(tidepool_gpu_net* net) {
  return guarded([&] { net->net.clear_gradient(); });
}

int add_gradient(tidepool_gpu_net* net, const tidepool_gpu_batch* batch, double* loss) {
  return guarded([&] { *loss = net->net.add_gradient(*batch); });
}

int add_last_gradient(tidepool_gpu_net* net, const tidepool_gpu_batch* batch, double* loss, tidepool_gpu_ready ready,
                      void* user) {
  return guarded([&] { *loss = net->net.add_gradient(*batch, {ready, user}); });
}

int get_gradient(tidepool_gpu_net* net, float* flat) {
  return guarded([&] { net->net.get_gradient(flat); });
}

int sgd_step(tidepool_gpu_net* net, float keep, float rate) {
  return guarded([&] { net->net.sgd(keep, rate); });
}

int apply(tidepool_gpu_net* net, float keep, float rate) {
  return guarded([&] { net->net.apply(keep, rate); });
}

void* stream(const tidepool_gpu_net* net) {
  return net->net.stream();
}

float* flat_gradient(const tidepool_gpu_net* net) {
  return net->net.flat_gradient();
}

void blocks(const tidepool_gpu_net* net, tidepool_gpu_block* found) {
  net->net.describe(found);
}

int measure_gpu(int size, size_t copy_bytes, int kernels, tidepool_gpu_figures* figures) {
  return guarded([&] { *figures = measure(size, copy_bytes, kernels != 0); });
}

}  // namespace
}  // namespace tidepool::trainer::gpu

const tidepool_gpu_api* tidepool_gpu(void) {
  namespace gpu = tidepool::trainer::gpu;
  static const tidepool_gpu_api table = {
      TIDEPOOL_GPU_ABI,       gpu::last_error,     gpu::devices,        gpu::open,           gpu::close,
      gpu::parameter_count,   gpu::set_parameters, gpu::get_parameters, gpu::clear_gradient, gpu::add_gradient,
      gpu::add_last_gradient, gpu::get_gradient,   gpu::sgd_step,       gpu::apply,          gpu::stream,
      gpu::flat_gradient,     gpu::blocks,         gpu::measure_gpu};
  return &table;
}
