#include "schedctl/summary.hpp"

#include <algorithm>
#include <cstdlib>

#include "schedctl/tables.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

struct Throughput {
  double samples_per_second = 0;
  bool measured = true;
};

std::optional<double> throughput_in(const json& rows, double size) {
  for (const auto& row : rows) {
    const auto pace = number_at(row, "/samples_per_second");
    if (number_at(row, "/size") == size && pace && *pace > 0) return pace;
  }
  return std::nullopt;
}

std::optional<Throughput> throughput_at(const SummaryFacts& facts, double size) {
  if (const auto measured = throughput_in(list_at(facts.job, "/sizes"), size)) return Throughput{*measured, true};
  if (const auto fitted = throughput_in(list_at(facts.metrics, "/fit/curve"), size)) return Throughput{*fitted, false};
  return std::nullopt;
}

std::optional<double> amount_of(const json& job) {
  const std::string text = text_at(job, "/cost/amount");
  char* end = nullptr;
  const double amount = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return amount;
}

std::string loss_line(const json& job) {
  const auto first = number_at(job, "/progress/first_loss");
  const auto last = number_at(job, "/progress/loss");
  if (!first || !last) return "Loss: none was reported";
  std::string line = "Loss " + loss(first) + " -> " + loss(last);
  if (*first > 0)
    line += *last <= *first ? ", down " + percent(1 - *last / *first) : ", up " + percent(*last / *first - 1);
  const auto step = number_at(job, "/progress/step").value_or(0);
  return line + " in " + count_of(step, "step") + ", " +
         count_of(number_at(job, "/progress/samples").value_or(0), "sample");
}

std::string audit_line(const SummaryFacts& facts) {
  const std::string audited = count_of(facts.epochs_sound + facts.epochs_broken, "epoch") + " audited: ";
  if (facts.epochs_broken == 0) return audited + "each sample was used exactly once";
  return audited + "in " + whole(facts.epochs_broken) +
         " of them samples were lost or used twice; see: schedctl events " + text_at(facts.job, "/id");
}

// Else it had its largest size throughout, and there is nothing to compare with.
bool had_smaller_sizes(const json& job) {
  const auto max = number_at(job, "/max").value_or(1);
  const json& sizes = list_at(job, "/sizes");
  const bool measured = std::any_of(sizes.begin(), sizes.end(),
                                    [&](const json& one) { return number_at(one, "/size").value_or(0) != max; });
  return number_at(job, "/min").value_or(1) < max && (sizes.empty() || measured);
}

std::string comparison_line(const SummaryFacts& facts) {
  const double held = number_at(facts.job, "/cost/slot_seconds").value_or(0);
  const std::string currency = text_at(facts.job, "/cost/currency");
  const auto amount = amount_of(facts.job);
  std::string line = "Held " + quantity(held) + " slot-seconds" +
                     (amount ? ", " + money(text_at(facts.job, "/cost/amount"), currency) : "") + ".";
  if (number_at(facts.job, "/progress/samples").value_or(0) <= 0 || !had_smaller_sizes(facts.job)) return line;
  const auto maximum = compare_with_maximum(facts);
  if (!maximum) return line + " Nothing was measured that tells what staying at the maximum would have cost.";
  line += " The same samples at " + count_of(maximum->size, "worker") + " all the time, by " +
          (maximum->measured ? "the throughput measured there" : "the fitted curve") + ": " +
          seconds_in_words(maximum->seconds) + ", " + rate(maximum->slot_seconds) + " slot-seconds";
  if (maximum->cost) line += ", " + money(std::to_string(*maximum->cost), currency);
  if (held <= 0 || maximum->slot_seconds <= 0) return line + ".";
  const double ratio = held / maximum->slot_seconds;
  return line + (ratio <= 1 ? "; the job used " + percent(1 - ratio) + " less."
                            : "; the job used " + percent(ratio - 1) + " more.");
}

}  // namespace

std::optional<Comparison> compare_with_maximum(const SummaryFacts& facts) {
  const auto size = number_at(facts.job, "/max");
  const auto samples = number_at(facts.job, "/progress/samples");
  if (!size || !samples || *samples <= 0) return std::nullopt;
  const auto pace = throughput_at(facts, *size);
  if (!pace) return std::nullopt;
  Comparison comparison{.size = *size, .measured = pace->measured};
  comparison.seconds = *samples / pace->samples_per_second;
  // A worker may hold several slots; slot-seconds per worker-second come from the job's own file.
  const double slots_per_worker = number_at(facts.job, "/spec/resources/gpus_per_worker").value_or(1);
  comparison.slot_seconds = comparison.seconds * *size * slots_per_worker;
  const auto held = number_at(facts.job, "/cost/slot_seconds");
  const auto amount = amount_of(facts.job);
  if (amount && held && *held > 0) comparison.cost = *amount / *held * comparison.slot_seconds;
  return comparison;
}

namespace {

// Of "keeps 2 workers: a third would add too little" what follows the size, which is told before it.
std::string why_kept(const std::string& told) {
  const bool tells_size = told.starts_with("keeps ") || told.starts_with("going ") || told.starts_with("growing ") ||
                          told.starts_with("shrinking ");
  if (!tells_size) return told;
  const std::size_t end = std::min(told.find(": "), told.find(", "));
  return end == std::string::npos ? "" : told.substr(end + 2);
}

}  // namespace

std::string summary_text(const SummaryFacts& facts, const Style& style) {
  const std::string state = text_at(facts.job, "/state");
  std::string out =
      bold(printable(text_at(facts.job, "/name")), style) + " " + coloured_state(state, state, style) + "\n";
  // Of a job that has not failed it is the newest of the losses that it has outlived.
  const bool has_failed = state == "failed";
  if (const std::string error = text_at(facts.job, "/error"); !error.empty() && !(has_failed && facts.error_told)) {
    out += wrapped(printable((has_failed ? "Error: " : "Last loss: ") + error), 0, style) + "\n";
  }
  out += wrapped(loss_line(facts.job), 0, style) + "\n";
  if (facts.epochs_sound + facts.epochs_broken > 0) out += wrapped(audit_line(facts), 0, style) + "\n";
  const json& sizes = list_at(facts.job, "/sizes");
  if (!sizes.empty()) {
    out += "\nSizes tried (efficiency: how much of a worker the last one added)\n";
    out += sizes_table(sizes, facts.kept_size, style) + "\n";
  }
  if (facts.kept_size > 0) {
    const std::string why = why_kept(facts.kept_why);
    const std::string line = "Kept " + count_of(facts.kept_size, "worker") + (why.empty() ? "." : ": " + why);
    out += wrapped(printable(line), 0, style) + "\n";
  }
  return out + wrapped(comparison_line(facts), 0, style) + "\n";
}

}  // namespace tidepool::ctl
