// elastic: of a job file: which sizes a job may have, and how long it keeps one.
//
// The sizes that are read ascend from min, hold preferred and are whole groups; where that does not hold there is a
// finding beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/time.hpp"

namespace tidepool::api::v1 {

// Workers of one job, at most; and of one whose program goes on while its size changes: so many can sum together.
inline constexpr int kWorkersMax = 4096;
inline constexpr int kLiveWorkersMax = 1024;
// A worker that is told to leave holds its slots for so long, also where they are another tenant's guarantee.
inline constexpr Duration kGraceMost = Duration::seconds(std::int64_t{24} * 3600);
// So long after a start, or a change of size, they may not be had back either (min_runtime, cooldown).
inline constexpr Duration kHoldMost = Duration::seconds(std::int64_t{24} * 3600);
struct ElasticFields {
  int min = 1;
  int max = 1;
  int preferred = 1;
  std::vector<int> sizes;  // effective, ascending
  std::optional<int> step;
  int group = 1;  // workers that come and go together
  Duration min_runtime;
  Duration cooldown = Duration::seconds(20);
  Duration grace = Duration::seconds(30);
};

[[nodiscard]] ElasticFields read_elastic(const nlohmann::json& value, std::vector<FieldError>& errors);
// `group` is told where it is asked for, so that other files are to the letter what they were before there was one.
[[nodiscard]] nlohmann::json elastic_document(const ElasticFields& elastic);

}  // namespace tidepool::api::v1
