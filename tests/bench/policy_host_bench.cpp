// What a round of a policy file costs: view to memory, one message each way, the policy itself, and the check of its
// answers. The Lua text and the native library do the same work, marginal utilities over every option of every job.
// Baseline of each: the same decision made in this process, without a host. Also what the round after a crash costs.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "policies/host/policy_host.hpp"
#include "tests/support/policy_views.hpp"

namespace tidepool {
namespace {

namespace host = policies::host;

constexpr int kRounds = 300;
constexpr int kRoundsWarm = 20;

constexpr const char* kLua = R"(
local P = {}
function P.size(view, params)
  local sizes, goodput = {}, view.goodput
  for i, options in ipairs(view.sizes) do
    local best, best_value = 0, 0
    for k = 1, #options do
      local value = goodput(i, options[k]) - 0.2 * options[k]
      if value > best_value then best, best_value = options[k], value end
    end
    sizes[i] = best
  end
  return sizes
end
return P)";

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double quantile(std::vector<double> times, double part) {
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(part * double(times.size() - 1))];
}

std::vector<double> measure(const std::function<void()>& round) {
  for (int i = 0; i < kRoundsWarm; ++i) round();
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const double begin = now_ms();
    round();
    times.push_back(now_ms() - begin);
  }
  return times;
}

void print(const std::string& metric, double value, double baseline) {
  const nlohmann::ordered_json line{{"bench", "policy_host"}, {"metric", metric},     {"value", value},
                                    {"unit", "ms"},           {"baseline", baseline}, {"ratio", value / baseline}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

std::string folder_of(const char* variable) {
  const char* folder = std::getenv(variable);
  TP_CHECK(folder != nullptr, "tools/bench tells where the programs lie");
  return folder;
}

host::PolicyHost open(host::EngineKind engine, std::string bytes) {
  return {host::Source{.engine = engine, .bytes = std::move(bytes), .budgets = {.wall = Duration::seconds(5)}},
          folder_of("TIDEPOOL_BIN_DIR") + "/tidepool-policy-host"};
}

std::string native_library() {
  std::ifstream in(folder_of("TIDEPOOL_BIN_DIR") + "/../tests/policies/marginal_policy.so", std::ios::binary);
  TP_CHECK(in.good(), "the native policy was built with the benchmark");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The same choice, made here.
std::vector<int> chosen_here(const policies::cluster::View& view) {
  std::vector<int> sizes;
  const host::Extent extent = host::extent_of(view);
  for (const auto& job : view.jobs) {
    int best = 0;
    double best_value = 0;
    for (const int size : host::size_options(job, extent)) {
      const double value = job.speed->goodput(policies::cluster::packed(size, 8)) - 0.2 * size;
      if (value > best_value) {
        best = size;
        best_value = value;
      }
    }
    sizes.push_back(best);
  }
  return sizes;
}

void bench(const char* engine, host::PolicyHost& process, int jobs) {
  const policies::cluster::View view = test::waiting_jobs(jobs, jobs / 4);
  std::vector<int> here;
  const auto alone = measure([&] { here = chosen_here(view); });
  std::vector<int> there;
  const auto hosted = measure([&] {
    const host::Judged judged = process.ask(view, {});
    if (const auto* fault = std::get_if<host::PolicyFault>(&judged)) {
      std::fprintf(stderr, "%s\n", to_text(*fault).c_str());
      std::exit(1);
    }
    there = std::get<host::Answers>(judged).sizes;
  });
  TP_CHECK(here == there, "host and daemon choose the same sizes");
  const std::string of = std::string(engine) + "_" + std::to_string(jobs) + "_jobs";
  print(of + "_p50", quantile(hosted, 0.5), quantile(alone, 0.5));
  print(of + "_p99", quantile(hosted, 0.99), quantile(alone, 0.99));
}

// The process dies between two rounds: one round is lost, and the next one starts a new process.
void bench_crash(const char* engine, host::PolicyHost& process) {
  const policies::cluster::View view = test::waiting_jobs(1'000, 250);
  std::vector<double> lost;
  std::vector<double> next;
  for (int i = 0; i < 20; ++i) {
    TP_CHECK(std::holds_alternative<host::Answers>(process.ask(view, {})), "a round before the crash is answered");
    kill(process.process(), SIGKILL);
    double begin = now_ms();
    TP_CHECK(std::holds_alternative<host::PolicyFault>(process.ask(view, {})), "the crash costs a round");
    lost.push_back(now_ms() - begin);
    begin = now_ms();
    TP_CHECK(std::holds_alternative<host::Answers>(process.ask(view, {})), "and only one");
    next.push_back(now_ms() - begin);
  }
  print(std::string(engine) + "_round_after_crash_p50", quantile(next, 0.5), quantile(lost, 0.5));
}

int run() {
  host::PolicyHost lua = open(host::EngineKind::kLua, kLua);
  host::PolicyHost native = open(host::EngineKind::kNative, native_library());
  for (const int jobs : {1'000, 10'000}) {
    bench("lua", lua, jobs);
    bench("native", native, jobs);
  }
  bench_crash("lua", lua);
  bench_crash("native", native);
  return 0;
}

}  // namespace
}  // namespace tidepool

int main() {
  return tidepool::run();
}
