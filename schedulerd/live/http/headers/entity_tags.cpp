#include "schedulerd/live/http/headers/entity_tags.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tidepool::live::http {
namespace {

struct EntityTag {
  std::string_view quoted;
  bool weak = false;
};

struct Condition {
  bool any = false;  // "*"
  std::vector<EntityTag> tags;
};

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

bool is_tag_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x21 || (byte >= 0x23 && byte != 0x7f);
}

std::optional<EntityTag> take_tag(std::string_view& text) {
  EntityTag tag{.quoted = {}, .weak = text.starts_with("W/")};
  if (tag.weak) text.remove_prefix(2);
  if (!text.starts_with('"')) return std::nullopt;
  const auto end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  tag.quoted = text.substr(0, end + 1);
  if (!std::all_of(tag.quoted.begin() + 1, tag.quoted.end() - 1, is_tag_character)) return std::nullopt;
  text.remove_prefix(end + 1);
  return tag;
}

// None: it is malformed. Empty elements of a list are passed over (section 5.6.1), but not an empty list.
std::optional<Condition> parse_tags(std::string_view text) {
  if (text == "*") return Condition{.any = true, .tags = {}};
  Condition condition;
  for (bool separated = true; skip_blanks(text), !text.empty();) {
    if (text.front() == ',') {
      separated = true;
      text.remove_prefix(1);
      continue;
    }
    const auto tag = separated ? take_tag(text) : std::nullopt;
    if (!tag) return std::nullopt;
    condition.tags.push_back(*tag);
    separated = false;
  }
  return condition.tags.empty() ? std::nullopt : std::optional(std::move(condition));
}

}  // namespace

bool is_tag_list(std::string_view text) {
  return parse_tags(text).has_value();
}

bool names_tag(std::string_view list, std::string_view etag, bool weakly) {
  const auto condition = parse_tags(list);
  if (!condition || condition->any) return condition.has_value();
  return std::any_of(condition->tags.begin(), condition->tags.end(),
                     [&](const EntityTag& tag) { return tag.quoted == etag && (weakly || !tag.weak); });
}

}  // namespace tidepool::live::http
