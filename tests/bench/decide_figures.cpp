#include "tests/bench/decide_figures.hpp"

#include <cstdint>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>

#include "base/check.hpp"

namespace tidepool {

double now_us() {
  timespec spent{};
  TP_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent) == 0, "the system has a clock per thread");
  return static_cast<double>(spent.tv_sec) * 1e6 + static_cast<double>(spent.tv_nsec) * 1e-3;
}

namespace {

nlohmann::ordered_json line_of(const std::string& metric, double value, double baseline) {
  return {{"bench", "decide"}, {"metric", metric},     {"value", value},
          {"unit", "us"},      {"baseline", baseline}, {"ratio", value / baseline}};
}

}  // namespace

void print(const std::string& metric, double value, double baseline) {
  std::printf("%s\n", line_of(metric, value, baseline).dump().c_str());
}

void print_growth(const std::string& prefix, const std::string& suffix, const Growth& growth) {
  const auto print_one = [&](const char* figure, double full, double half) {
    nlohmann::ordered_json line = line_of(prefix + "_" + figure + "_" + suffix, full, half);
    line["measured"] = "half and full in turns";
    std::printf("%s\n", line.dump().c_str());
  };
  print_one("p50", growth.full.p50, growth.half.p50);
  print_one("p99", growth.full.p99, growth.half.p99);
}

core::StepsMeasured report_of(const core::Job& job) {
  constexpr std::int64_t kSteps = 8;
  core::StepsMeasured report{.job = job.id,
                             .generation = job.membership.generation,
                             .last_step = job.progress.step + kSteps,
                             .steps = kSteps,
                             .elapsed = Duration::millis(800),
                             .samples = kSteps * job.spec.batch.global,
                             .loss = 1};
  report.compute_us.assign(static_cast<std::size_t>(kSteps) * job.membership.members.size(), 80'000);
  return report;
}

}  // namespace tidepool
