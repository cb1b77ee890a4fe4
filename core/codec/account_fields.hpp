// The fields of a job's use. Private to the core's codecs.
#pragma once

#include "base/codec/archive.hpp"
#include "core/state/job.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<Used> auto& used) {
  archive("slot_time", used.slot_time);
  archive("cost", used.cost);
}

void fields(auto& archive, codec::Like<Overheads> auto& overheads) {
  for (const Overhead overhead : kOverheads) archive(to_text(overhead), overheads[overhead]);
}

void fields(auto& archive, codec::Like<SavedMark> auto& mark) {
  archive("step", mark.step);
  archive("useful", mark.useful);
  archive("restarts", mark.restarts);
  archive("lost_at_leave", mark.lost_at_leave);
}

void fields(auto& archive, codec::Like<DayMark> auto& mark) {
  archive("day", mark.day);
  archive("slot_time", mark.slot_time);
  archive("cost", mark.cost);
  archive("overheads", mark.overheads);
}

void account_fields(auto& archive, codec::Like<Account> auto& account) {
  archive("charged_until", account.charged_until);
  archive("slot_time", account.slot_time);
  archive("cost", account.cost);
  archive("cost_remainder", account.cost_remainder);
  archive("days", account.days);
  archive("overheads", account.overheads);
  archive("boot_remainder", account.boot_remainder);
  archive("saved", account.saved);
}

// States of earlier versions have no budgets, only the total cost of jobs, and no overheads: everything that a job had
// used by then counts as useful. Later versions do not record whether a job saved its state after it had lost steps.
inline void add_missing_money(nlohmann::json& job) {
  if (!job.is_object()) return;
  job.emplace("budget_hold", nullptr);
  job.emplace("days", nlohmann::json::array());
  job.emplace("overheads", codec::encode(Overheads()));
  job.emplace("boot_remainder", 0);
  job.emplace("saved", codec::encode(SavedMark()));
  if (job["saved"].is_object()) job["saved"].emplace("lost_at_leave", codec::encode(Duration()));
  if (!job["days"].is_array()) return;
  for (nlohmann::json& mark : job["days"]) {
    if (mark.is_object()) mark.emplace("overheads", codec::encode(Overheads()));
  }
}

}  // namespace tidepool::core
