#include "api/v1/text_fields.hpp"

#include <sstream>

namespace tidepool::api::v1 {

using nlohmann::json;

std::string bounded_text(ObjectReader& in, std::string_view field) {
  std::string text = in.text(field, "");
  if (text.size() > kTextMax || text.find('\0') != std::string::npos) {
    in.fail(field, "OutOfRange", "must be at most 4096 bytes and hold no NUL");
    return {};
  }
  return text;
}

namespace {

bool is_text(const json& value, std::size_t bytes_max) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.size() <= bytes_max && text.find('\0') == std::string::npos;
}

// A line as for a shell where a list is wanted, as a list: ", such as ["python3","train.py"]".
std::string as_list(const json& value) {
  constexpr std::size_t kLineMax = 100;
  if (!value.is_string()) return "";
  const auto& line = value.get_ref<const std::string&>();
  if (line.size() > kLineMax || line.find_first_of("\"'`\\") != std::string::npos) return "";
  std::istringstream words(line);
  json listed = json::array();
  for (std::string word; words >> word;) listed.push_back(word);
  return listed.empty() ? "" : ", such as " + canonical_json(listed);
}

}  // namespace

std::vector<std::string> read_texts(ObjectReader& in, std::string_view field, std::size_t entries_max) {
  std::vector<std::string> texts;
  const json& value = in.raw(field);
  if (value.is_null()) return texts;
  if (!value.is_array() || value.empty() || value.size() > entries_max) {
    in.fail(field, "WrongType", "must be a list of 1 to " + std::to_string(entries_max) + " texts" + as_list(value));
    return texts;
  }
  for (const auto& entry : value) {
    if (!is_text(entry, kTextMax)) {
      in.fail(field, "WrongType", "has an entry that is no text of at most 4096 bytes; quote numbers");
      return {};
    }
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

std::map<std::string, std::string> text_map(ObjectReader& in, std::string_view field, const TextMapForm& form) {
  std::map<std::string, std::string> texts;
  const json& value = in.raw(field);
  if (value.is_null()) return texts;
  if (!value.is_object() || value.size() > form.entries_max) {
    in.fail(field, "WrongType", "must be an object of at most " + std::to_string(form.entries_max) + " texts");
    return texts;
  }
  for (const auto& [name, entry] : value.items()) {
    if (!is_text(entry, form.bytes_max)) {
      in.fail(field, "WrongType",
              "has an entry " + canonical_json(name) + " that is no text of at most " + std::to_string(form.bytes_max) +
                  " bytes; " + form.advice);
      continue;
    }
    texts[name] = entry.get<std::string>();
  }
  return texts;
}

}  // namespace tidepool::api::v1
