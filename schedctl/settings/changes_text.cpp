#include "schedctl/settings/changes_text.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

std::string fields_text(const json& change, bool is_new) {
  std::string text;
  for (const auto& [name, field] : change.at("fields").items()) {
    text += (text.empty() ? ": " : ", ") + name + " ";
    if (!is_new) text += value_text(field.at("from")) + " -> ";
    text += value_text(field.at("to"));
  }
  return text;
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
  if (!value.is_array()) return value.dump();
  std::string list;
  for (const auto& each : value) list += (list.empty() ? "" : ", ") + value_text(each);
  return "[" + list + "]";
}

std::string warnings_text(const json& answer, const Style& style) {
  std::string lines;
  for (const auto& warning : list_at(answer, "/warnings")) {
    lines += wrapped(printable("warning: " + warning.get<std::string>()), 2, style) + "\n";
  }
  return lines;
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
