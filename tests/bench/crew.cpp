#include "tests/bench/crew.hpp"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {
namespace {

constexpr int kBootMs = 60'000;
constexpr int kEndMs = 300'000;

int run_gloo_rank(int rank, int workers, const std::string& folder, const GlooProgram& program) {
  try {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = "127.0.0.1";
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(folder);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, workers);
    context->connectFullMesh(store, device);
    return program(context);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d over Gloo: %s\n", rank, error.what());
    return 1;
  }
}

}  // namespace

std::vector<WorkerId> boot_crew(TestLeader& leader, int workers) {
  std::vector<WorkerId> crew;
  crew.reserve(static_cast<std::size_t>(workers));
  for (int i = 0; i < workers; ++i) crew.push_back(leader.spawn());
  const auto all_ready = [&] {
    return std::all_of(crew.begin(), crew.end(), [&](WorkerId worker) { return leader.ready(worker); });
  };
  if (!leader.run_until(all_ready, kBootMs)) throw std::runtime_error("the workers did not start");
  return crew;
}

void run_crew(int workers, const TestLeader::Program& program) {
  TestLeader leader(program);
  leader.commit(boot_crew(leader, workers));
  if (!leader.run_until([&] { return leader.living() == 0; }, kEndMs)) throw std::runtime_error("the workers hang");
  const auto failed = [](const auto& exit) { return exit.second != 0; };
  if (std::any_of(leader.exits().begin(), leader.exits().end(), failed)) throw std::runtime_error("a worker failed");
}

void run_gloo_crew(int workers, const GlooProgram& program) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int rank = 0; rank < workers; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(run_gloo_rank(rank, workers, folder.path().string(), program));
    children.push_back(child);
  }
  bool failed = false;
  for (const pid_t child : children) {
    int status = 0;
    failed |= child < 0 || ::waitpid(child, &status, 0) != child || status != 0;
  }
  if (failed) throw std::runtime_error("a worker over Gloo failed");
}

void sum_over(const std::shared_ptr<gloo::Context>& context, std::span<float> values) {
  gloo::AllreduceOptions call(context);
  call.setOutput(values.data(), values.size());
  call.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
  call.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
  gloo::allreduce(call);
}

}  // namespace tidepool::test
