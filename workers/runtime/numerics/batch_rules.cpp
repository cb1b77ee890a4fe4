#include "workers/runtime/numerics/batch_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.hpp"
#include "base/digest.hpp"
#include "workers/runtime/numerics/noise_scale.hpp"

namespace tidepool::runtime {
namespace {

struct RuleName {
  const char* word;
  OnResize rule;
};
constexpr std::array<RuleName, 6> kRules{{{"constant", OnResize::kConstant},
                                          {"linear", OnResize::kLinear},
                                          {"sqrt", OnResize::kSqrt},
                                          {"adascale", OnResize::kAdaScale},
                                          {"callback", OnResize::kCallback},
                                          {"fixed_local", OnResize::kFixedLocal}}};
constexpr std::uint64_t kBatchMax = 1ULL << 40U;  // keeps batch * workers within 64 bits
constexpr int kSizeMax = 1 << 20U;

Status check_max_batch(const BatchRules& rules) {
  const bool follows = rules.on_resize != OnResize::kConstant && rules.on_resize != OnResize::kCallback;
  if (rules.max_batch == 0) {
    if (rules.on_resize != OnResize::kFixedLocal) return ok_status();
    return invalid_argument("fixed_local needs a maximal global batch, from which on the batch is split");
  }
  if (!follows) return invalid_argument("a maximal global batch is for linear, sqrt, adascale and fixed_local");
  if (rules.max_batch >= rules.base_batch && rules.max_batch <= kBatchMax) return ok_status();
  return invalid_argument("the maximal global batch is " + std::to_string(rules.max_batch) +
                          ": it must lie between the global batch, " + std::to_string(rules.base_batch) + ", and 2^40");
}

}  // namespace

Result<OnResize> parse_on_resize(const std::string& word) {
  const auto found =
      std::find_if(kRules.begin(), kRules.end(), [&](const RuleName& name) { return word == name.word; });
  if (found != kRules.end()) return found->rule;
  return invalid_argument("on_resize is \"" + word +
                          "\": use constant, linear, sqrt, adascale, fixed_local or callback");
}

std::uint64_t fingerprint(const BatchRules& rules) {
  Digest digest;
  digest.mix(static_cast<std::uint64_t>(rules.on_resize)).mix(rules.base_batch);
  digest.mix(static_cast<std::uint64_t>(rules.base_size)).mix(static_cast<std::uint64_t>(rules.warmup_steps));
  if (rules.max_batch > 0) digest.mix(rules.max_batch);
  return digest.value();
}

Status check_rules(const BatchRules& rules) {
  if (rules.base_batch == 0) return invalid_argument("the global batch must be at least one sample");
  if (rules.base_batch > kBatchMax) return invalid_argument("the global batch must be at most 2^40 samples");
  if (rules.base_size < 1 || rules.base_size > kSizeMax) {
    return invalid_argument("base_size is " + std::to_string(rules.base_size) +
                            ": it is the number of workers that global_batch is meant for, at least 1");
  }
  TP_TRY(check_max_batch(rules));
  if (rules.warmup_steps < 0) {
    return invalid_argument("warmup_steps is " + std::to_string(rules.warmup_steps) +
                            ": use 0 to change the learning rate at once, or the number of steps to change it over");
  }
  return ok_status();
}

Status check_choice(const BatchChoice& choice) {
  if (choice.global_batch == 0 || choice.global_batch > kBatchMax) {
    return invalid_argument("the on_resize function asked for a batch of " + std::to_string(choice.global_batch) +
                            " samples: it must be between 1 and 2^40");
  }
  if (!std::isfinite(choice.lr_factor) || choice.lr_factor <= 0) {
    return invalid_argument("the on_resize function answered with a learning-rate factor of " +
                            std::to_string(choice.lr_factor) + ": it must be a number above 0");
  }
  return ok_status();
}

std::uint64_t batch_for(const BatchRules& rules, int size) {
  TP_CHECK(size >= 1, "a generation has a worker");
  if (rules.on_resize == OnResize::kConstant) return rules.base_batch;
  const auto base = static_cast<std::uint64_t>(rules.base_size);
  const std::uint64_t scaled = rules.base_batch * static_cast<std::uint64_t>(size);
  const std::uint64_t batch = std::max<std::uint64_t>(1, (scaled + base / 2) / base);
  return rules.max_batch > 0 ? std::min(batch, rules.max_batch) : batch;
}

double lr_target(const BatchRules& rules, std::uint64_t batch, std::optional<double> noise_scale) {
  const double scale = static_cast<double>(batch) / static_cast<double>(rules.base_batch);
  switch (rules.on_resize) {
    case OnResize::kConstant:
    case OnResize::kFixedLocal: return 1;
    case OnResize::kLinear: return scale;
    case OnResize::kSqrt: return std::sqrt(scale);
    case OnResize::kAdaScale: return noise_scale ? adascale_gain(*noise_scale, rules.base_batch, batch) : 1;
    case OnResize::kCallback: break;
  }
  TP_CHECK(false, "the program's function says the callback rule's factor");
}

std::uint64_t part_of_share(std::uint64_t share, std::uint64_t part_max) {
  if (part_max == 0 || share <= part_max) return std::max<std::uint64_t>(1, share);
  const std::uint64_t parts = (share + part_max - 1) / part_max;
  return (share + parts - 1) / parts;
}

}  // namespace tidepool::runtime
