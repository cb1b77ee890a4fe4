#include "schedctl/settings/changes_text.hpp"

#include <vector>

#include <nlohmann/json.hpp>

#include "base/word_list.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

// What a setting has of its own, such as a budget, is told part by part.
void add_field(std::vector<std::string>& texts, const std::string& name, const json& from, const json& to,
               bool is_new) {
  if (!from.is_object() && !to.is_object()) {
    texts.push_back(name + " " + (is_new ? "" : value_text(from) + " -> ") + value_text(to));
    return;
  }
  const json was = from.is_object() ? from : json::object();
  const json is = to.is_object() ? to : json::object();
  json parts = was;
  parts.update(is);
  for (const auto& [part, _] : parts.items()) {
    const json before = was.value(part, json());
    const json after = is.value(part, json());
    if (before != after) add_field(texts, name + "." + part, before, after, is_new);
  }
}

std::string fields_text(const json& change, bool is_new) {
  std::vector<std::string> texts;
  for (const auto& [name, field] : change.at("fields").items()) {
    add_field(texts, name, field.at("from"), field.at("to"), is_new);
  }
  return texts.empty() ? "" : ": " + word_list(texts);
}

std::string change_line(const std::string& kind, const json& change) {
  const std::string what = text_at(change, "/change");
  const std::string mark = what == "added" ? "+ " : what == "removed" ? "- " : "~ ";
  return mark + text_at(change, "/" + kind, "all " + kind + "s") + fields_text(change, what == "added");
}

}  // namespace

std::string value_text(const json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.contains("percent") && value.contains("action")) {  // a threshold of a budget
    return text_at(value, "/action") + " at " + integer_at(value, "/percent") + " %";
  }
  if (!value.is_array()) return value.dump();
  return "[" + word_list(value, value_text) + "]";
}

std::string changes_text(const std::string& kind, const json& answer, const Style& style) {
  std::string text;
  for (const auto& change : list_at(answer, "/changes")) text += wrapped(change_line(kind, change), 2, style) + "\n";
  if (text.empty()) text = "no change\n";
  const std::string refused = text_at(answer, "/refused");
  if (!refused.empty()) text += wrapped(printable("the daemon refuses it: " + refused), 2, style) + "\n";
  return text + warnings_text(answer, style);
}

}  // namespace tidepool::ctl
