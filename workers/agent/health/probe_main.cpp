// tidepool-probe: measures one device of this node and prints its figures as one line of JSON. The agent runs it when
// it joins; run by hand, it shows whether a slow worker is on a slow device. Exit codes: 0, 1 cannot measure, 2 wrong
// usage.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "workers/agent/health/cpu_probe.hpp"
#include "workers/agent/health/pair_probe.hpp"
#include "workers/runtime/comm_opening.hpp"
#include "workers/trainer/gpu/gpu_library.hpp"

namespace tidepool::agent {
namespace {

constexpr int kGpuMatrix = 2'048;
constexpr std::size_t kGpuCopyBytes = 256U << 20U;
constexpr std::size_t kPairFloats = 8U << 20U;
constexpr int kPairRounds = 10;
constexpr runtime::Millis kPairTimeout{30'000};

struct Wanted {
  std::string gpu;        // empty: the CPU
  std::string neighbour;  // a second GPU for the pair measurement
  bool pair = false;      // on the CPU: measure with a second process
};

// TIDEPOOL_PROBE_MATRIX: a smaller product, for devices slower than GPUs.
int gpu_matrix() {
  const char* text = std::getenv("TIDEPOOL_PROBE_MATRIX");
  const int size = text == nullptr ? kGpuMatrix : std::atoi(text);
  return size > 0 ? std::min(size, kGpuMatrix) : kGpuMatrix;
}

Result<DeviceFigures> measure_gpu(const std::string& name) {
  const auto gpu = trainer::load_gpu_library();
  if (!gpu.ok()) return gpu.error();
  tidepool_gpu_figures figures{};
  if ((*gpu)->measure(gpu_matrix(), kGpuCopyBytes, 0, &figures) != 0) return trainer::gpu_error(**gpu, "measuring");
  if (figures.matmul_error > 1e-4) return io_error("this GPU's matrix product is wrong; take it out of service");
  return DeviceFigures{.device = name,
                       .matmul_gflops = figures.matmul_gflops,
                       .vendor_gflops = figures.cublas_gflops,
                       .copy_gbps = figures.copy_gbps};
}

Status send_text(int fd, const std::string& text) {
  const std::size_t length = text.size();
  const bool sent = ::write(fd, &length, sizeof length) == static_cast<ssize_t>(sizeof length) &&
                    ::write(fd, text.data(), length) == static_cast<ssize_t>(length);
  return sent ? ok_status() : Status(io_error("the other half of the pair is gone"));
}

Result<std::string> receive_text(int fd) {
  std::size_t length = 0;
  const Error gone = io_error("the other half of the pair is gone");
  if (::recv(fd, &length, sizeof length, MSG_WAITALL) != static_cast<ssize_t>(sizeof length)) return gone;
  std::string text(length, '\0');
  if (::recv(fd, text.data(), length, MSG_WAITALL) != static_cast<ssize_t>(length)) return gone;
  return text;
}

// One of two ranks; they exchange addresses through `fd`.
Result<double> take_part(int rank, int fd) {
  const auto transports = runtime::find_transports(runtime::Backend::kAuto);
  if (!transports.ok()) return transports.error();
  const auto opening = runtime::CommOpening::open(
      *transports, {.rank = rank, .size = 2, .connect_timeout = kPairTimeout, .collective_timeout = kPairTimeout});
  if (!opening.ok()) return opening.error();
  TP_TRY(send_text(fd, (*opening)->address()));
  auto theirs = receive_text(fd);
  if (!theirs.ok()) return theirs.error();
  std::vector<std::string> addresses = {(*opening)->address(), *theirs};
  if (rank == 1) std::swap(addresses[0], addresses[1]);
  const auto comm = (*opening)->connect(addresses);
  if (!comm.ok()) return comm.error();
  auto figure = measure_pair(**comm, kPairFloats, kPairRounds);
  (*comm)->settle();
  return figure;
}

// The second rank runs in another process with the other GPU, because a process uses one GPU.
Result<double> measure_with(const std::string& neighbour) {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return io_error("no socket pair");
  const pid_t child = ::fork();
  if (child < 0) return io_error("no second process can be started");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(sockets[0]);
    ::setenv("CUDA_VISIBLE_DEVICES", neighbour.c_str(), 1);
    ::_exit(take_part(1, sockets[1]).ok() ? 0 : 1);
  }
  ::close(sockets[1]);
  auto figure = take_part(0, sockets[0]);
  ::close(sockets[0]);
  ::waitpid(child, nullptr, 0);
  return figure;
}

Result<DeviceFigures> measure(const Wanted& wanted) {
  if (!wanted.gpu.empty()) ::setenv("CUDA_VISIBLE_DEVICES", wanted.gpu.c_str(), 1);
  std::optional<double> pair;
  if (wanted.pair || !wanted.neighbour.empty()) {  // first: a process that has used CUDA must not fork
    const auto figure = measure_with(wanted.neighbour);
    if (!figure.ok()) return figure.error();
    pair = *figure;
  }
  auto figures = wanted.gpu.empty() ? Result<DeviceFigures>(measure_cpu({})) : measure_gpu(wanted.gpu);
  if (figures.ok()) figures->pair_gbps = pair;
  return figures;
}

}  // namespace
}  // namespace tidepool::agent

int main(int argc, char** argv) {
  using namespace tidepool::agent;
  Wanted wanted;
  CLI::App app("Measures one device of this node: matrix product, copy, and the sum with a second device.",
               "tidepool-probe");
  auto* gpu = app.add_option("--gpu", wanted.gpu, "GPU as in CUDA_VISIBLE_DEVICES (default: the CPU)");
  app.add_option("--with", wanted.neighbour, "a second GPU to sum numbers with")->needs(gpu);
  app.add_flag("--pair", wanted.pair, "on the CPU: sum numbers with a second process")->excludes(gpu);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    const auto figures = measure(wanted);
    if (!figures.ok()) {
      std::fprintf(stderr, "tidepool-probe: %s\n", figures.error().message.c_str());
      return 1;
    }
    std::printf("%s\n", encode_figures(*figures).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tidepool-probe: %s\n", error.what());
    return 1;
  }
}
