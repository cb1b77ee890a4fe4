// What jobs have used in a range of days in UTC, summed by what is asked for, and beside them what the pool had that no
// job held. Pure; exact, because accounts are kept by day (core/state/account.hpp): ranges that follow each other add
// up to the whole.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::live::http {

// Both are part of it.
struct DayRange {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// Of what a request says, "" where it says nothing: `from` and `to` as dates, or the calendar day, week or month
// `window` that holds `today`. Without any of them this month.
struct AskedRange {
  std::string window;
  std::string from;
  std::string to;
};
[[nodiscard]] Result<DayRange> read_range(const AskedRange& asked, std::int64_t today);

// "tenant,label:project,job,day,type,class": by what rows are told apart; without any by tenant.
[[nodiscard]] Result<std::vector<std::string>> read_keys(std::string_view text);

class UsageSums {
 public:
  UsageSums(DayRange range, std::vector<std::string> keys) : range_(range), keys_(std::move(keys)) {}

  // Requires: `account` is the job's, charged up to now, or the job has ended.
  void add(const core::ClusterState& state, const core::Job& job, const core::Account& account);

  // For one who may see the pool's account. Requires: it is counted up to now.
  void add_pool(const core::PoolLedger& ledger);

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // {from, to, by, rows: [{by: {key: value}, jobs, slot_seconds, cost}], total: {...}, pool}; rows in the order of
  // their values. `pool` is null, or alike: by day and type as asked for, and always by class.
  [[nodiscard]] nlohmann::json body() const;

 private:
  struct Sum {
    std::int64_t jobs = 0;
    core::Used used;
  };
  // What a job has used up to some day, and what of that was overhead.
  struct Slice {
    core::Used used;
    core::Overheads overheads;
    bool operator==(const Slice&) const = default;
  };
  void add_slice(const core::Job& job, std::int64_t day, const Slice& slice);
  void add_row(const std::vector<std::string>& values, core::Used used);
  [[nodiscard]] nlohmann::json pool_body() const;

  DayRange range_;
  std::vector<std::string> keys_;
  std::map<std::vector<std::string>, Sum> rows_;
  Sum total_;
  std::optional<std::map<std::vector<std::string>, core::Used>> pool_;  // by pool_keys()
};

}  // namespace tidepool::live::http
