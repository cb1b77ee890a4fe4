#include "schedulerd/live/http/conditions.hpp"

#include <string>
#include <utility>

#include "schedulerd/live/http/headers/entity_tags.hpp"

namespace tidepool::live::http {

std::optional<Problem> check_conditions(const HttpRequest& request) {
  for (const auto& [name, shown] : {std::pair("if-match", "If-Match"), std::pair("if-none-match", "If-None-Match")}) {
    if (!request.headers.contains(name) || is_tag_list(request.header(name))) continue;
    const bool is_empty = request.header(name).empty();
    return Problem{.status = 400,
                   .code = "BadCondition",
                   .detail = std::string(shown) + (is_empty ? " is empty" : " is malformed") +
                             "; it takes an ETag with its quotes, several joined by commas, or *",
                   .hint = "send the ETag as it was answered, or leave the header out; nothing was done"};
  }
  return std::nullopt;
}

bool if_match_holds(const HttpRequest& request, std::string_view etag) {
  return !request.headers.contains("if-match") || names_tag(request.header("if-match"), etag, false);
}

bool if_match_names_tags(const HttpRequest& request) {
  return request.headers.contains("if-match") && request.header("if-match") != "*";
}

bool has_already(const HttpRequest& request, std::string_view etag) {
  return names_tag(request.header("if-none-match"), etag, true);
}

}  // namespace tidepool::live::http
