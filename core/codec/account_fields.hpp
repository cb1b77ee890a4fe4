// The fields of what a job has used. Private to the core's codecs.
#pragma once

#include "base/codec/archive.hpp"
#include "core/state/job.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<DayMark> auto& mark) {
  archive("day", mark.day);
  archive("slot_time", mark.slot_time);
  archive("cost", mark.cost);
}

void account_fields(auto& archive, codec::Like<Account> auto& account) {
  archive("charged_until", account.charged_until);
  archive("slot_time", account.slot_time);
  archive("cost", account.cost);
  archive("cost_remainder", account.cost_remainder);
  archive("days", account.days);
}

// States of earlier versions know no budgets, and what jobs cost only in all.
inline void tell_no_money(nlohmann::json& job) {
  if (!job.is_object()) return;
  job.emplace("budget_hold", nullptr);
  job.emplace("days", nlohmann::json::array());
}

}  // namespace tidepool::core
