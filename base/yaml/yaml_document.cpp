#include "base/yaml/yaml_document.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <regex>
#include <set>
#include <vector>

namespace tidepool {
namespace {

using nlohmann::json;

struct Located {
  int line = 0;
  std::string what;
};

std::string at_line(int line, const std::string& what) {
  return line > 0 ? "line " + std::to_string(line) + ": " + what : what;
}

std::optional<json> integer_of(std::string_view digits, int base) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return json(number);
}

// YAML 1.2.2 section 10.3.2, "Core schema: tag resolution". Nothing: the value is a text.
std::optional<json> resolve_plain(const std::string& text) {
  static const std::set<std::string> nulls = {"", "~", "null", "Null", "NULL"};
  static const std::set<std::string> trues = {"true", "True", "TRUE"};
  static const std::set<std::string> falses = {"false", "False", "FALSE"};
  static const std::regex decimal("[-+]?[0-9]+");
  static const std::regex real("[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?");
  if (nulls.contains(text)) return json(nullptr);
  if (trues.contains(text)) return json(true);
  if (falses.contains(text)) return json(false);
  if (text.size() > 64) return std::nullopt;  // no number is that long; also bounds the patterns' work
  const std::string_view view = text;
  if (view.starts_with("0x")) return integer_of(view.substr(2), 16);
  if (view.starts_with("0o")) return integer_of(view.substr(2), 8);
  if (std::regex_match(text, decimal)) {
    if (auto number = integer_of(text[0] == '+' ? view.substr(1) : view, 10)) return number;
  }
  if (std::regex_match(text, real)) return json(std::strtod(text.c_str(), nullptr));
  return std::nullopt;
}

bool is_not_finite_word(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  static const std::set<std::string_view> words = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  return words.contains(text);
}

// Walks a yaml-cpp node; throws Located at the first thing that JSON cannot represent.
class Converter {
 public:
  Converter(FieldLines& lines, const YamlLimits& limits) : lines_(lines), limits_(limits) {}

  json convert(const YAML::Node& node, const std::string& pointer, std::size_t depth) {
    const int line = node.Mark().line + 1;
    if (depth > limits_.depth_max) {
      throw Located{line,
                    "nested deeper than " + std::to_string(limits_.depth_max) + " levels (an anchor inside itself?)"};
    }
    if (++values_ > limits_.values_max) throw Located{line, "more values than a file may have"};
    lines_.remember(pointer, line);
    switch (node.Type()) {
      case YAML::NodeType::Map: return convert_map(node, pointer, depth);
      case YAML::NodeType::Sequence: {
        json items = json::array();
        for (const auto& item : node) {
          items.push_back(convert(item, pointer + "/" + std::to_string(items.size()), depth + 1));
        }
        return items;
      }
      case YAML::NodeType::Scalar: return convert_scalar(node, line);
      case YAML::NodeType::Null:
      case YAML::NodeType::Undefined: return nullptr;
    }
    return nullptr;
  }

 private:
  json convert_map(const YAML::Node& node, const std::string& pointer, std::size_t depth) {
    json object = json::object();
    for (const auto& entry : node) {
      const int line = entry.first.Mark().line + 1;
      if (!entry.first.IsScalar()) throw Located{line, "a field's name must be a plain word"};
      const std::string& name = entry.first.Scalar();
      if (object.contains(name)) throw Located{line, "the field \"" + name + "\" appears twice; keep one of them"};
      const std::string inner = pointer + "/" + escape_pointer(name);
      lines_.remember(inner, line);
      object[name] = convert(entry.second, inner, depth + 1);
    }
    return object;
  }

  static json convert_scalar(const YAML::Node& node, int line) {
    const std::string& text = node.Scalar();
    const std::string& tag = node.Tag();
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return text;  // "!" is yaml-cpp's tag for quoted texts
    if (!tag.empty() && tag != "?" && !tag.starts_with("tag:yaml.org,2002:")) {
      throw Located{line, "the tag " + tag + " has no meaning here; remove it"};
    }
    if (is_not_finite_word(text)) throw Located{line, text + " is not a number that can be used here"};
    const auto resolved = resolve_plain(text);
    if (!resolved) return text;
    if (resolved->is_number_float() && !std::isfinite(resolved->get<double>())) {
      throw Located{line, text + " is too large for a number"};
    }
    return *resolved;
  }

  FieldLines& lines_;
  YamlLimits limits_;
  std::size_t values_ = 0;
};

// Whether the line, counted from 1, begins with a tab, or with blanks followed by a tab.
bool is_indented_by_tab(std::string_view text, int line) {
  for (int at = 1; at < line; ++at) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::size_t begin = text.find_first_not_of(' ');
  return begin != std::string_view::npos && text[begin] == '\t';
}

// The parser's error names what it made of a line indented by a tab: an "illegal" value or entry, or the tab itself.
std::string not_yaml(const std::string& text, const YAML::Exception& error) {
  const int line = error.mark.is_null() ? 0 : error.mark.line + 1;
  const bool is_of_tab = error.msg.starts_with("illegal ") && is_indented_by_tab(text, line);
  const std::string what = is_of_tab ? "a tab cannot indent a line; write spaces in its place" : error.msg;
  return at_line(line, "not valid YAML: " + what);
}

Result<json> parse_yaml(const std::string& text, FieldLines& lines, const YamlLimits& limits) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty() || documents.front().IsNull()) return json();
    if (documents.size() > 1) {
      return invalid_argument(at_line(documents[1].Mark().line + 1, "a second document begins; a file holds one"));
    }
    return Converter(lines, limits).convert(documents.front(), "", 0);
  } catch (const Located& problem) {
    return invalid_argument(at_line(problem.line, problem.what));
  } catch (const YAML::Exception& error) {
    return invalid_argument(not_yaml(text, error));
  }
}

// For json or ordered_json.
template <class Json>
void emit(YAML::Emitter& out, const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      out << (value.empty() ? YAML::Flow : YAML::Block) << YAML::BeginMap;
      for (const auto& [name, inner] : value.items()) {
        out << YAML::Key << name << YAML::Value;
        emit(out, inner);
      }
      out << YAML::EndMap;
      break;
    case Json::value_t::array:
      out << (value.empty() ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
      for (const auto& inner : value) emit(out, inner);
      out << YAML::EndSeq;
      break;
    case Json::value_t::string: {
      const auto text = value.template get<std::string>();
      if (resolve_plain(text) || is_not_finite_word(text)) out << YAML::DoubleQuoted;
      out << text;
      break;
    }
    case Json::value_t::null: out << YAML::Null; break;
    default: out << value.dump();  // JSON's booleans and numbers are valid YAML
  }
}

// Number of bytes of the character that begins here (RFC 3629); 0: not a character.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto goes_on = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return goes_on(1) ? 2 : 0;
  // Refuses overlong forms, surrogates and numbers above U+10FFFF.
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_one = (first != 0xe0 || second >= 0xa0) && (first != 0xed || second <= 0x9f);
    return is_one && goes_on(1) && goes_on(2) ? 3 : 0;
  }
  const bool is_one =
      first >= 0xf0 && first <= 0xf4 && (first != 0xf0 || second >= 0x90) && (first != 0xf4 || second <= 0x8f);
  return is_one && goes_on(1) && goes_on(2) && goes_on(3) ? 4 : 0;
}

// YAML's parser accepts any bytes, but JSON cannot represent bytes that are not characters.
Status check_utf8(std::string_view text) {
  int line = 1;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      return invalid_argument(at_line(line, "not valid UTF-8; save the file in this encoding"));
    }
    line += text.front() == '\n' ? 1 : 0;
    text.remove_prefix(length);
  }
  return ok_status();
}

}  // namespace

int FieldLines::line_of(std::string_view pointer) const {
  while (true) {
    if (const auto found = lines_.find(pointer); found != lines_.end()) return found->second;
    const auto slash = pointer.rfind('/');
    if (slash == std::string_view::npos) return 0;
    pointer = pointer.substr(0, slash);
  }
}

std::string findings_text(const std::string& shown, const FieldLines& lines, const std::vector<FieldError>& errors) {
  std::string text;
  for (const FieldError& error : errors) {
    text += (text.empty() ? "" : "\n") + shown + " line " + std::to_string(lines.line_of(error.pointer)) +
            (error.pointer.empty() ? "" : ", " + error.pointer) + ": " + error.message;
  }
  return text;
}

Result<json> read_yaml(const std::string& text, FieldLines& lines, const YamlLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return Error{ErrorCode::kLimitExceeded, "the file has " + std::to_string(text.size()) +
                                                " bytes; it may have at most " + std::to_string(limits.bytes_max)};
  }
  TP_TRY(check_utf8(text));
  auto from_yaml = parse_yaml(text, lines, limits);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    // Valid JSON (tabs, surrogate pairs) is read by JSON's own rules, because YAML's flow style differs from JSON.
    if (auto from_json = parse_json(text, {.bytes_max = limits.bytes_max}); from_json.ok()) return from_json;
  }
  return from_yaml;
}

Result<json> read_yaml(const std::string& text) {
  FieldLines lines;
  return read_yaml(text, lines);
}

std::string to_yaml(const json& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

std::string to_yaml(const nlohmann::ordered_json& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace tidepool
