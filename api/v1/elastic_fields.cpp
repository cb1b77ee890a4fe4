#include "api/v1/elastic_fields.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "api/v1/optional_fields.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;
using Errors = std::vector<FieldError>;

std::vector<int> read_sizes(ObjectReader& in) {
  std::vector<int> sizes;
  const json& value = in.raw("sizes");
  if (value.is_null()) return sizes;
  if (!value.is_array() || value.empty() || value.size() > kWorkersMax) {
    in.fail("sizes", "WrongType", "must be a list of whole numbers, such as [1, 2, 4]");
    return sizes;
  }
  for (const auto& entry : value) {
    if (!entry.is_number_integer() || entry < 1 || entry > kWorkersMax) {
      in.fail("sizes", "OutOfRange", "has " + canonical_json(entry) + "; each must be a whole number from 1 to 4096");
      return {};
    }
    sizes.push_back(entry.get<int>());
  }
  return sizes;
}

std::vector<int> sizes_by_step(int low, int high, int step) {
  std::vector<int> sizes;
  for (int size = low; size <= high; size += step) sizes.push_back(size);
  return sizes;
}

// Sizes must ascend within [min, max], begin at min and hold the preferred one.
void check_sizes(ObjectReader& in, const ElasticFields& elastic) {
  const auto& sizes = elastic.sizes;
  const auto text = [](int n) { return std::to_string(n); };
  if (std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) != sizes.end()) {
    in.fail("sizes", "Invalid", "must ascend without repetition, such as [1, 2, 4]");
    return;
  }
  if (sizes.front() != elastic.min) {
    in.fail("sizes", "Invalid",
            "begins at " + text(sizes.front()) + ", but min is " + text(elastic.min) + "; make both the same");
  }
  if (sizes.back() > elastic.max) {
    in.fail("sizes", "OutOfRange",
            "goes up to " + text(sizes.back()) + ", but max is " + text(elastic.max) + "; raise max");
  }
  const bool preferred_allowed = std::binary_search(sizes.begin(), sizes.end(), elastic.preferred);
  if (!preferred_allowed) {
    in.fail("preferred", "Invalid", "is " + text(elastic.preferred) + ", which is not one of the allowed sizes");
  }
}

// Workers come and go in whole groups, so that every size is so many groups.
bool check_groups(ObjectReader& in, const ElasticFields& elastic) {
  const auto is_whole = [&](const char* field, int workers) {
    if (workers % elastic.group == 0) return true;
    const std::string group = std::to_string(elastic.group);
    in.fail(field, "Invalid",
            std::string(field == std::string_view("sizes") ? "has " : "is ") + std::to_string(workers) +
                "; each size is whole groups, so it must be a multiple of group, which is " + group);
    return false;
  };
  bool all = is_whole("min", elastic.min);
  all = is_whole("max", elastic.max) && all;
  all = is_whole("preferred", elastic.preferred) && all;
  all = is_whole("step", elastic.step.value_or(elastic.group)) && all;
  return std::all_of(elastic.sizes.begin(), elastic.sizes.end(), [&](int size) { return is_whole("sizes", size); }) &&
         all;
}

// Range and order of min, preferred and max; true if the sizes can be judged on top.
bool check_bounds(ObjectReader& in, const ElasticFields& elastic) {
  if (elastic.min > elastic.max) {
    in.fail("min", "OutOfRange",
            "is " + std::to_string(elastic.min) + "; it must not exceed max, which is " + std::to_string(elastic.max));
    return false;
  }
  if (elastic.preferred < elastic.min || elastic.preferred > elastic.max) {
    in.fail("preferred", "OutOfRange",
            "is " + std::to_string(elastic.preferred) + "; it must lie between min (" + std::to_string(elastic.min) +
                ") and max (" + std::to_string(elastic.max) + ")");
    return false;
  }
  return true;
}

}  // namespace

ElasticFields read_elastic(const json& value, Errors& errors) {
  ElasticFields elastic;
  ObjectReader in(value, "/elastic", errors);
  const ObjectReader::Range workers{.low = 1, .high = kWorkersMax};
  const std::size_t errors_before = errors.size();
  elastic.group = static_cast<int>(in.integer("group", 1, workers));
  elastic.min = static_cast<int>(in.integer("min", elastic.group, workers));
  elastic.max = static_cast<int>(in.integer("max", elastic.min, workers));
  elastic.preferred = static_cast<int>(in.integer("preferred", elastic.min, workers));
  if (in.has("step")) elastic.step = static_cast<int>(in.integer("step", 1, workers));
  elastic.sizes = read_sizes(in);
  if (errors.size() == errors_before && check_bounds(in, elastic) && check_groups(in, elastic)) {
    const auto stepped = sizes_by_step(elastic.min, elastic.max, elastic.step.value_or(elastic.group));
    if (elastic.sizes.empty()) elastic.sizes = stepped;
    if (elastic.step && elastic.sizes != stepped) {
      in.fail("step", "Invalid", "and sizes say different things; give only one of them");
    }
    check_sizes(in, elastic);
  }
  const auto up_to = [&](std::string_view field, Duration most, Duration fallback) {
    const Duration time = optional_duration(in, field).value_or(fallback);
    if (time > most) in.fail(field, "OutOfRange", "is " + to_text(time) + "; it must be from 0s to " + to_text(most));
    return time;
  };
  elastic.min_runtime = up_to("min_runtime", kHoldMost, elastic.min_runtime);
  elastic.cooldown = up_to("cooldown", kHoldMost, elastic.cooldown);
  elastic.grace = up_to("grace", kGraceMost, elastic.grace);
  in.finish();
  return elastic;
}

json elastic_document(const ElasticFields& elastic) {
  json document = {{"min", elastic.min},
                   {"max", elastic.max},
                   {"preferred", elastic.preferred},
                   {"sizes", elastic.sizes},
                   {"step", elastic.step ? json(*elastic.step) : json(nullptr)},
                   {"min_runtime", to_text(elastic.min_runtime)},
                   {"cooldown", to_text(elastic.cooldown)},
                   {"grace", to_text(elastic.grace)}};
  if (elastic.group > 1) document["group"] = elastic.group;
  return document;
}

}  // namespace tidepool::api::v1
