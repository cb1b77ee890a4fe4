#include "schedulerd/live/http/lists/listed_job.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// One of a blank job, in the order in which they are shown.
struct Field {
  std::string name;
  json value;
  std::string text;  // of the value
};

constexpr std::string_view kCurrency = R"("currency":")";  // in the cost, which is kept without it

json fields_of(const core::Job& job) {
  static const Published nothing;
  json fields = render_job_to_all(nothing, job, "");
  if (job.started_at) fields["started_at"] = job.started_at->count_us();
  // The row has these in columns of their own.
  for (const char* name : {"id", "name", "tenant", "state", "submitted_at", "finished_at"}) fields[name] = nullptr;
  return fields;
}

const std::vector<Field>& blank_fields() {
  static const std::vector<Field> kFields = [] {
    const json blank = fields_of(core::Job());
    std::vector<Field> fields;
    for (const auto& [name, value] : blank.items()) fields.push_back({name, value, canonical_json(value)});
    return fields;
  }();
  return kFields;
}

// The value of the field if it comes next in `lines`, which goes on behind it.
std::optional<std::string_view> take(std::string_view& lines, std::string_view name) {
  if (!lines.starts_with(name) || !lines.substr(name.size()).starts_with(' ')) return std::nullopt;
  const std::size_t end = lines.find('\n');
  const std::size_t begin = name.size() + 1;
  const std::string_view value = lines.substr(begin, end - begin);
  lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  return value;
}

std::string quoted(const std::string& text) {
  return canonical_json(json(text));
}

// Of the fields that are not kept as they are shown; none: it is one of the others.
std::optional<std::string> text_from_row(const std::string& name, const EndedRow& row, const WallClock& clock) {
  if (name == "id") return quoted(row.id.text());
  if (name == "name") return quoted(row.name);
  if (name == "tenant") return quoted(row.tenant);
  if (name == "state") return quoted(row.state);
  if (name == "submitted_at") return quoted(clock.text(row.submitted_at));
  if (name == "finished_at") return quoted(clock.text(row.finished_at));
  return std::nullopt;
}

// Of a value that is kept in another form.
std::string shown(const std::string& name, std::string_view kept, const WallClock& clock, const std::string& currency) {
  std::string text(kept);
  if (name == "started_at" && text != "null") return quoted(clock.text(Instant::from_micros(std::stoll(text))));
  if (name != "cost") return text;
  const std::string with_quotes = quoted(currency);
  return text.insert(text.find(kCurrency) + kCurrency.size(), with_quotes, 1, with_quotes.size() - 2);
}

}  // namespace

std::string listed_fields(const core::Job& job) {
  const json fields = fields_of(job);
  std::string lines;
  for (const Field& field : blank_fields()) {
    const json& value = fields.at(field.name);
    if (value != field.value) lines.append(field.name).append(" ").append(canonical_json(value)).append("\n");
  }
  return lines;
}

std::optional<std::string> listed_text(const EndedRow& row, const WallClock& clock, const std::string& currency) {
  if (row.listed.empty()) return std::nullopt;
  std::string_view lines = row.listed;
  std::string out;
  for (const Field& field : blank_fields()) {
    out.append(out.empty() ? "{\"" : ",\"").append(field.name).append("\":");
    const auto kept = take(lines, field.name);
    const auto of_row = text_from_row(field.name, row, clock);
    out.append(of_row ? *of_row : shown(field.name, kept.value_or(field.text), clock, currency));
  }
  if (!lines.empty()) return std::nullopt;
  return out.append("}");
}

bool reason_may_name_jobs(const EndedRow& row) {
  constexpr std::string_view kReason = "reason ";
  const std::string_view lines = row.listed;
  const std::size_t at = lines.starts_with(kReason) ? 0 : lines.find("\nreason ");
  if (at == std::string_view::npos) return false;
  return may_name_jobs(lines.substr(at, lines.find('\n', at + 1) - at));
}

}  // namespace tidepool::live::http
