// What the GPU path does on a machine that has a GPU: training against the CPU step by step, our kernels against a
// plain copy, cuBLAS beside our product, and what a communicator costs. Elsewhere it says why it is skipped and
// succeeds. Prints JSON lines; GPU figures are of the first device that CUDA_VISIBLE_DEVICES shows.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "workers/agent/health/pair_probe.hpp"
#include "workers/runtime/comm/clock.hpp"
#include "workers/runtime/nccl/nccl_comm.hpp"
#include "workers/runtime/session.hpp"
#include "workers/trainer/charlm.hpp"
#include "workers/trainer/gpu/gpu_library.hpp"
#include "workers/trainer/learner.hpp"
#include "workers/trainer/sgd.hpp"

namespace {

using namespace tidepool;

// --rehearse: so small that stand-ins for CUDA on the CPU get through; the figures mean nothing then.
struct Sizes {
  int product = 4'096;
  std::size_t copy_bytes = 1U << 30U;
  int steps = 50;
  int samples = 512;
  int hidden = 1'024;
  std::size_t pair_floats = 16U << 20U;
};
constexpr Sizes kRehearsal{
    .product = 40, .copy_bytes = 8'192, .steps = 8, .samples = 8, .hidden = 16, .pair_floats = 10'000};
Sizes sizes;

void print(const nlohmann::json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void report(const std::string& metric, double value, const std::string& unit, double baseline = 0) {
  nlohmann::json line = {{"bench", "gpu"}, {"metric", metric}, {"value", value}, {"unit", unit}};
  line["baseline"] = baseline > 0 ? nlohmann::json(baseline) : nlohmann::json(nullptr);
  line["ratio"] = baseline > 0 ? nlohmann::json(value / baseline) : nlohmann::json(nullptr);
  print(line);
}

void skip(const std::string& what, const std::string& reason) {
  print({{"bench", "gpu"}, {"metric", what}, {"skipped", reason}});
}

void kernels(const tidepool_gpu_api& gpu) {
  tidepool_gpu_figures figures{};
  if (gpu.measure(sizes.product, sizes.copy_bytes, 1, &figures) != 0) throw std::runtime_error(gpu.last_error());
  report("copy", figures.copy_gbps, "GB/s");
  report("softmax_cross_entropy", figures.softmax_gbps, "GB/s", figures.copy_gbps);
  report("sgd", figures.sgd_gbps, "GB/s", figures.copy_gbps);
  report("pack", figures.pack_gbps, "GB/s", figures.copy_gbps);
  report("row_sums", figures.row_sums_gbps, "GB/s", figures.copy_gbps);
  report("product", figures.matmul_gflops, "GFLOP/s", figures.cublas_gflops);
  report("product_difference", figures.matmul_error, "of the largest value");
}

trainer::Batch random_batch(int context, int vocabulary, std::uint64_t seed) {
  Rng rng(seed);
  trainer::Batch batch;
  const auto token = [&] { return std::min(vocabulary - 1, static_cast<int>(rng.uniform() * vocabulary)); };
  for (int i = 0; i < sizes.samples * context; ++i) batch.tokens.push_back(token());
  for (int i = 0; i < sizes.samples; ++i) batch.classes.push_back(batch.tokens[static_cast<std::size_t>(i * context)]);
  return batch;
}

void must(int code, const tidepool_gpu_api& gpu) {
  if (code != 0) throw std::runtime_error(gpu.last_error());
}

struct Differences {
  double loss = 0;
  double parameter = 0;
  double gpu_ms = 0;
  double cpu_ms = 0;
};

Differences train_side_by_side(const tidepool_gpu_api& gpu) {
  const trainer::CharLmOptions options{.context = 16, .vocabulary = 96, .embedding = 16, .hidden = 256};
  const tidepool_gpu_shape shape{.vocabulary = 96, .embedding = 16, .inputs = 256, .hidden = 256, .classes = 96};
  trainer::CharLm model(options);
  const std::span<float> parameters = model.parameters();
  trainer::Sgd optimizer(0.2, 0.9, parameters.size());
  tidepool_gpu_net* net = nullptr;
  must(gpu.open(&shape, &net), gpu);
  must(gpu.set_parameters(net, parameters.data()), gpu);
  std::vector<float> gradient(parameters.size());
  std::vector<float> theirs(parameters.size());
  Differences found;
  for (std::uint64_t step = 0; step < static_cast<std::uint64_t>(sizes.steps); ++step) {
    const trainer::Batch batch = random_batch(options.context, options.vocabulary, step);
    const auto begin = runtime::Clock::now();
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    const double cpu_loss = model.add_gradient(batch.view(), gradient);
    optimizer.apply(gradient, {.samples = static_cast<std::uint64_t>(sizes.samples)}, parameters);
    const auto middle = runtime::Clock::now();
    const tidepool_gpu_batch part{nullptr, batch.tokens.data(), batch.classes.data(), sizes.samples};
    double gpu_loss = 0;
    must(gpu.clear_gradient(net), gpu);
    must(gpu.add_gradient(net, &part, &gpu_loss), gpu);
    must(gpu.sgd(net, 0.9F, 0.2F / static_cast<float>(sizes.samples)), gpu);
    if (step > 0) {  // the first one loads the kernels
      found.cpu_ms += runtime::millis_between(begin, middle) / (sizes.steps - 1);
      found.gpu_ms += runtime::millis_between(middle, runtime::Clock::now()) / (sizes.steps - 1);
    }
    must(gpu.get_parameters(net, theirs.data()), gpu);
    found.loss = std::max(found.loss, std::fabs(gpu_loss - cpu_loss) / cpu_loss);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      found.parameter = std::max(found.parameter, static_cast<double>(std::fabs(theirs[i] - parameters[i])));
    }
  }
  gpu.close(net);
  return found;
}

void training(const tidepool_gpu_api& gpu) {
  const Differences found = train_side_by_side(gpu);
  report("loss_difference_50_steps", found.loss, "of the CPU's loss");
  report("parameter_difference_50_steps", found.parameter, "absolute, largest");
  report("charlm_step", found.gpu_ms, "ms", found.cpu_ms);
  if (found.loss > 1e-3) throw std::runtime_error("the GPU trains something else than the CPU");
}

struct Libraries {
  std::shared_ptr<const runtime::NcclLibrary> nccl;
  std::shared_ptr<const runtime::CudaLibrary> cuda;
};

Libraries load_libraries() {
  auto cuda = runtime::CudaLibrary::load();
  if (!cuda.ok()) throw std::runtime_error(cuda.error().message);
  auto nccl = runtime::NcclLibrary::load();
  if (!nccl.ok()) throw std::runtime_error(nccl.error().message);
  return {.nccl = *std::move(nccl), .cuda = *std::move(cuda)};
}

std::shared_ptr<runtime::NcclComm> open_rank(const Libraries& libraries, int rank, int size) {
  auto comm = runtime::NcclComm::open({.nccl = libraries.nccl,
                                       .cuda = libraries.cuda,
                                       .rank = rank,
                                       .size = size,
                                       .collective_timeout = runtime::Millis{30'000}});
  if (!comm.ok()) throw std::runtime_error(comm.error().message);
  return *std::move(comm);
}

// A session that trains alone on the GPU, as tidepool-trainer does: what a step costs, and what its checkpoints' copy
// of the state does, against the same on the CPU.
void whole_steps(const tidepool_gpu_api& gpu) {
  const trainer::CharLmOptions options{.context = 16, .vocabulary = 96, .embedding = 16, .hidden = sizes.hidden};
  const tidepool_gpu_shape shape{
      .vocabulary = 96, .embedding = 16, .inputs = 256, .hidden = sizes.hidden, .classes = 96};
  const auto step_ms = [&](bool on_gpu) {
    trainer::CharLm model(options);
    std::unique_ptr<trainer::Learner> learner = trainer::make_cpu_learner(model, {.shape = shape});
    if (on_gpu) {
      auto made = trainer::make_gpu_learner(gpu, model, {.shape = shape});
      if (!made.ok()) throw std::runtime_error(made.error().message);
      learner = *std::move(made);
    }
    auto session = runtime::Session::open(
        {.samples = 100'000, .global_batch = static_cast<std::uint64_t>(sizes.samples), .steps = sizes.steps});
    if (!session.ok()) throw std::runtime_error(session.error().message);
    if (const Status told = learner->enlist(**session); !told.ok()) throw std::runtime_error(told.error().message);
    if (const Status joined = (*session)->join(); !joined.ok()) throw std::runtime_error(joined.error().message);
    auto begin = runtime::Clock::now();
    std::uint64_t seed = 0;
    while ((*session)->next_step()) {
      if (seed == 5) begin = runtime::Clock::now();  // the first steps load the kernels
      const trainer::Batch batch = random_batch(options.context, options.vocabulary, seed++);
      const double loss = learner->compute(**session, batch.view(), static_cast<std::size_t>(sizes.samples));
      if ((*session)->reduce(loss) == runtime::Reduced::kRetry) throw std::runtime_error("a step alone was not agreed");
      learner->apply({.samples = static_cast<std::uint64_t>(sizes.samples)});
      (*session)->commit();
    }
    const double ms = runtime::millis_between(begin, runtime::Clock::now()) / (sizes.steps - 5);
    if (on_gpu) {
      const auto copying = runtime::Clock::now();
      static_cast<void>((*session)->state_digest());
      report("state_to_host_and_hash", runtime::millis_between(copying, runtime::Clock::now()), "ms");
    }
    session->reset();  // before the learner, whose memory it knows
    return ms;
  };
  report("session_step", step_ms(true), "ms", step_ms(false));
}

// A communicator of one rank: what initialisation costs the first time and later, and how it ends.
void one_rank() {
  const Libraries libraries = load_libraries();
  for (const char* metric : {"nccl_1_rank_first_init", "nccl_1_rank_init"}) {
    const auto comm = open_rank(libraries, 0, 1);
    const auto begin = runtime::Clock::now();
    if (const Status made = comm->connect(comm->address()); !made.ok()) throw std::runtime_error(made.error().message);
    report(metric, runtime::millis_between(begin, runtime::Clock::now()), "ms");
    const auto speed = agent::measure_pair(*comm, sizes.pair_floats, 10);
    if (!speed.ok()) throw std::runtime_error(speed.error().message);
    report("nccl_1_rank_sum_through_host", *speed, "GB/s");
    comm->settle();
  }
  auto comm = open_rank(libraries, 0, 1);
  if (!comm->connect(comm->address()).ok()) throw std::runtime_error("no communicator to abort");
  const auto begin = runtime::Clock::now();
  comm->abort();
  std::vector<float> values(16);
  if (comm->allreduce(values).ok()) throw std::runtime_error("an aborted communicator still works");
  report("nccl_1_rank_abort", runtime::millis_between(begin, runtime::Clock::now()), "ms");
  comm.reset();
  report("nccl_1_rank_abort_and_free", runtime::millis_between(begin, runtime::Clock::now()), "ms");
}

// Gigabytes a second of gradients that lie on the GPU and are summed there, through this rank's part of ten sums.
double sum_on_device(runtime::NcclComm& comm, const runtime::CudaLibrary& cuda) {
  void* memory = nullptr;
  if (cuda.allocate(&memory, sizes.pair_floats * sizeof(float)) != 0)
    throw std::runtime_error("no GPU memory for the sum");
  const runtime::FloatBuffer gradients{.values = {static_cast<float*>(memory), sizes.pair_floats},
                                       .memory = runtime::Memory::kDevice};
  double fastest_ms = 0;
  for (int run = 0; run < 10; ++run) {
    const auto begin = runtime::Clock::now();
    if (!comm.allreduce_parts({&gradients, 1}).ok()) throw std::runtime_error("the sum on the GPU failed");
    const double ms = runtime::millis_between(begin, runtime::Clock::now());
    if (run == 0 || ms < fastest_ms) fastest_ms = ms;
  }
  cuda.release(memory);
  return static_cast<double>(sizes.pair_floats * sizeof(float)) / fastest_ms / 1e6;
}

// Below 2.30 NCCL refuses two ranks on one GPU unless it takes them for two hosts: unsupported, short, few channels.
int second_rank(int socket) {
  ::setenv("NCCL_HOSTID", "tidepool-second", 1);
  const Libraries libraries = load_libraries();
  const auto comm = open_rank(libraries, 1, 2);
  std::string id(runtime::nccl::kUniqueIdBytes, '\0');
  if (::recv(socket, id.data(), id.size(), MSG_WAITALL) != static_cast<ssize_t>(id.size())) return 1;
  if (!comm->connect(id).ok() || !agent::measure_pair(*comm, sizes.pair_floats, 10).ok()) return 1;
  static_cast<void>(sum_on_device(*comm, *libraries.cuda));
  char told = 0;
  static_cast<void>(::recv(socket, &told, 1, MSG_WAITALL));
  ::_exit(0);  // without a word to the other rank
}

// What the death of the other rank costs a sum, where NCCL notices it.
void outlive_the_other(runtime::NcclComm& comm, int socket) {
  const auto begin = runtime::Clock::now();
  if (::write(socket, "x", 1) != 1) throw std::runtime_error("the other rank is not told to end");
  std::vector<float> values(1'024);
  const Status outcome = comm.allreduce(values);
  if (outcome.ok()) throw std::runtime_error("a sum ended without the other rank");
  report("nccl_2_ranks_1_gpu_death", runtime::millis_between(begin, runtime::Clock::now()), "ms");
  if (outcome.error().message.find("still works") != std::string::npos)
    throw std::runtime_error(outcome.error().message);
}

// Before this process has used CUDA: afterwards it may not fork.
void two_ranks_on_one_gpu() {
  ::setenv("NCCL_MAX_NCHANNELS", "1", 0);
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) throw std::runtime_error("no sockets");
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      ::_exit(second_rank(sockets[1]));
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  ::close(sockets[1]);
  const auto end_child = [&] {
    ::close(sockets[0]);
    ::waitpid(child, nullptr, 0);
  };
  try {
    const Libraries libraries = load_libraries();
    const auto comm = open_rank(libraries, 0, 2);
    const std::string id = comm->address();
    if (::write(sockets[0], id.data(), id.size()) != static_cast<ssize_t>(id.size())) throw std::runtime_error("no id");
    const auto begin = runtime::Clock::now();
    if (const Status made = comm->connect(id); !made.ok()) throw std::runtime_error(made.error().message);
    report("nccl_2_ranks_1_gpu_init", runtime::millis_between(begin, runtime::Clock::now()), "ms");
    const auto speed = agent::measure_pair(*comm, sizes.pair_floats, 10);
    if (!speed.ok()) throw std::runtime_error(speed.error().message);
    report("nccl_2_ranks_1_gpu_sum_through_host", *speed, "GB/s");
    report("nccl_2_ranks_1_gpu_sum_on_device", sum_on_device(*comm, *libraries.cuda), "GB/s", *speed);
    outlive_the_other(*comm, sockets[0]);
  } catch (...) {
    end_child();
    throw;
  }
  end_child();
}

// In a process of its own: the experiment may hang the GPU's driver, and this process must not have used CUDA yet.
void experiment() {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 0;
    try {
      two_ranks_on_one_gpu();
    } catch (const std::exception& error) {
      skip("nccl_2_ranks_1_gpu", error.what());
      code = 1;
    }
    std::fflush(stdout);
    ::_exit(code);
  }
  ::waitpid(child, nullptr, 0);
}

// Asked of a child, since a process that has used CUDA may not fork.
bool cuda_works() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(runtime::CudaLibrary::load().ok() ? 0 : 1);
  int status = 1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--rehearse") sizes = kRehearsal;
  if (!cuda_works()) {
    const auto cuda = tidepool::runtime::CudaLibrary::load();
    skip("all", cuda.ok() ? "CUDA does not answer" : cuda.error().message);
    return 0;
  }
  experiment();
  try {
    one_rank();
    const auto gpu = tidepool::trainer::load_gpu_library();
    if (!gpu.ok()) {
      skip("kernels and training", gpu.error().message);
      return 0;
    }
    kernels(**gpu);
    training(**gpu);
    whole_steps(**gpu);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
