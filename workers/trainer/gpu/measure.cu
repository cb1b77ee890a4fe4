#include "workers/trainer/gpu/measure.hpp"

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "workers/trainer/gpu/device_memory.hpp"
#include "workers/trainer/gpu/kernels.hpp"
#include "workers/trainer/gpu/matmul.hpp"

namespace tidepool::trainer::gpu {
namespace {

constexpr int kRuns = 7;
constexpr int kClasses = 256;  // of the measured softmax: byte values
constexpr double kGiga = 1e9;

class Timer {
 public:
  Timer() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreate(&begin_), "making an event");
    check(cudaEventCreate(&end_), "making an event");
  }
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  // Median seconds of `act`, which only enqueues work.
  template <class Act>
  double seconds(Act act) {
    std::vector<float> runs;
    act();
    for (int run = 0; run < kRuns; ++run) {
      check(cudaEventRecord(begin_, stream_), "measuring");
      act();
      check(cudaEventRecord(end_, stream_), "measuring");
      check(cudaEventSynchronize(end_), "measuring");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), "measuring");
      runs.push_back(milliseconds);
    }
    check(cudaGetLastError(), "measuring");
    std::nth_element(runs.begin(), runs.begin() + kRuns / 2, runs.end());
    return runs[kRuns / 2] / 1e3;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

std::vector<float> test_pattern(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 2'654'435'761U) % 1'024) / 512.0F - 1;
  return values;
}

void measure_product(int size, Timer& timer, tidepool_gpu_figures& figures) {
  const std::size_t count = static_cast<std::size_t>(size) * size;
  const std::vector<float> pattern = test_pattern(count);
  DeviceMemory<float> a(count);
  DeviceMemory<float> b(count);
  DeviceMemory<float> ours(count);
  DeviceMemory<float> theirs(count);
  a.copy_from(pattern.data(), count, timer.stream());
  b.copy_from(pattern.data(), count, timer.stream());
  const double operations = 2.0 * size * static_cast<double>(count) / kGiga;
  figures.matmul_gflops =
      operations / timer.seconds([&] { multiply_tiled(a.data(), b.data(), ours.data(), size, timer.stream()); });
  cublasHandle_t blas = nullptr;
  if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cuBLAS does not start");
  cublasSetStream(blas, timer.stream());
  cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH);
  const float one = 1;
  const float zero = 0;
  // cuBLAS is column-major, so the row-major product takes the factors in the other order.
  figures.cublas_gflops = operations / timer.seconds([&] {
    cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, b.data(), size, a.data(), size, &zero,
                theirs.data(), size);
  });
  cublasDestroy(blas);
  std::vector<float> left(count);
  std::vector<float> right(count);
  ours.copy_to(left.data(), count, timer.stream());
  theirs.copy_to(right.data(), count, timer.stream());
  check(cudaStreamSynchronize(timer.stream()), "comparing the products");
  float difference = 0;
  float largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    difference = std::max(difference, std::fabs(left[i] - right[i]));
    largest = std::max(largest, std::fabs(right[i]));
  }
  figures.matmul_error = largest == 0 ? 0 : difference / largest;
}

void measure_copy(std::size_t bytes, Timer& timer, tidepool_gpu_figures& figures) {
  DeviceMemory<char> from(bytes);
  DeviceMemory<char> to(bytes);
  const double seconds = timer.seconds([&] {
    check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, timer.stream()), "copying");
  });
  figures.copy_gbps = 2.0 * static_cast<double>(bytes) / seconds / kGiga;
}

// Each kernel on `bytes` of its main buffer; counts the bytes that the kernel must read and write.
void measure_kernels(std::size_t bytes, Timer& timer, tidepool_gpu_figures& figures) {
  const std::size_t count = bytes / sizeof(float) / kClasses * kClasses;
  const int columns = static_cast<int>(count / kClasses);
  const double gigabytes = static_cast<double>(count) * sizeof(float) / kGiga;
  DeviceMemory<float> one(count);
  DeviceMemory<float> two(count);
  DeviceMemory<float> three(count);
  DeviceMemory<float> small(static_cast<std::size_t>(columns) + kClasses);
  DeviceMemory<int> classes(static_cast<std::size_t>(columns));
  for (auto* memory : {&one, &two, &three, &small}) memory->clear(timer.stream());
  classes.clear(timer.stream());
  const cudaStream_t stream = timer.stream();
  figures.softmax_gbps = 2 * gigabytes / timer.seconds([&] {
    softmax_cross_entropy(one.data(), small.data(), classes.data(), kClasses, columns, small.data() + kClasses, stream);
  });
  figures.sgd_gbps =
      5 * gigabytes / timer.seconds([&] { sgd({one.data(), two.data(), three.data(), count}, 0.9F, 0.1F, stream); });
  figures.row_sums_gbps =
      gigabytes / timer.seconds([&] { add_row_sums(one.data(), kClasses, columns, small.data(), stream); });
  const Segment whole{0, 0, count};
  DeviceMemory<Segment> segment(1);
  segment.copy_from(&whole, 1, stream);
  figures.pack_gbps =
      2 * gigabytes / timer.seconds([&] { pack({segment.data(), 1, count}, one.data(), two.data(), stream); });
}

}  // namespace

tidepool_gpu_figures measure(int size, std::size_t copy_bytes, bool kernels) {
  if (size < 1 || copy_bytes < sizeof(float) * kClasses) {
    throw std::invalid_argument("a measurement needs a matrix of at least 1 x 1 and a copy of at least a kilobyte");
  }
  Timer timer;
  tidepool_gpu_figures figures{};
  measure_product(size, timer, figures);
  measure_copy(copy_bytes, timer, figures);
  if (kernels) measure_kernels(copy_bytes, timer, figures);
  return figures;
}

}  // namespace tidepool::trainer::gpu
