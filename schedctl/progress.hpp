// What `schedctl watch` shows of a job: one line of progress, and a sentence for each event worth one. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

struct Progress {
  std::string state;
  double step = 0;
  std::optional<double> steps_total;
  std::optional<double> fraction;  // of the total work, if it is known
  std::optional<double> loss;
  std::optional<double> samples_per_second;
  double size = 0;
  std::string cost;
  std::string currency;
};

// Takes over what a job resource, or an event of that job, says newer.
void take_job(Progress& progress, const nlohmann::json& job);
void take_event(Progress& progress, const nlohmann::json& event);

// One line of at most style.width columns: bar, step, loss, samples/s, size, cost.
[[nodiscard]] std::string progress_line(const Progress& progress, const Style& style);

// As core::is_routine, of an event as the daemon writes it; its brief lists have none.
[[nodiscard]] bool is_routine(const nlohmann::json& event);

// The event as a sentence. With a `job`: what `watch` says of that job, empty if that is nothing; sound audits,
// progress and decisions are told elsewhere there. Without: of any event, empty if there are no words for it.
[[nodiscard]] std::string event_sentence(const nlohmann::json& event, const std::string& job);
// Of all events for which there are words.
[[nodiscard]] std::vector<std::string> described_event_types();

}  // namespace tidepool::ctl
