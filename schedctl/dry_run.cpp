#include "schedctl/dry_run.hpp"

#include "schedctl/words.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

std::string workers(const json& count) {
  return count.dump() + (count == 1 ? " worker" : " workers");
}

// "2 workers on n1, 1 worker on n2"
std::string places_of(const json& decision) {
  std::string places;
  for (const json& place : decision.at("places")) {
    places += (places.empty() ? "" : ", ") + workers(place.at("workers")) + " on " + text_at(place, "/node_name");
  }
  return places;
}

// "job-3 (train) would shrink from 4 to 2 workers"
std::string change_in_words(const json& change) {
  const bool is_foreign = change.at("job").is_null();
  const std::string job =
      is_foreign ? "a job of another tenant" : text_at(change, "/job") + " (" + text_at(change, "/name") + ")";
  const std::string kind = text_at(change, "/kind");
  if (kind == "preempt") return job + " would give up its " + workers(change.at("from"));
  if (kind == "replace") return job + " would move a worker";
  if (kind == "move") return job + " would move to slots of another type";
  return job + " would " + kind + " from " + change.at("from").dump() + " to " + workers(change.at("to"));
}

}  // namespace

std::string decision_in_words(const json& job) {
  if (!job.contains("decision")) return "";
  const json& decision = job.at("decision");
  const bool starts = decision.value("starts", false);
  std::string text = "submitted now, it would " +
                     (starts ? "start at once: " + places_of(decision) : "wait: " + text_at(decision, "/summary")) +
                     "\n";
  for (const json& change : decision.at("changes")) text += "  " + change_in_words(change) + "\n";
  if (starts) return text;
  for (const json& line : decision.at("unblocks")) text += "  what would help: " + line.get<std::string>() + "\n";
  return text;
}

}  // namespace tidepool::ctl
