#include "schedulerd/live/http/headers/stream_format.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <tuple>

#include "schedulerd/live/http/headers/trimmed.hpp"

namespace tidepool::live::http {
namespace {

// How much a form is wanted: the greater one wins.
struct Wish {
  double weight = 0;
  int closeness = -1;  // 0: "*/*", 1: "text/*", 2: the type itself; -1: not named
  int place = 0;       // the first is 0, the next -1
  auto operator<=>(const Wish&) const = default;
};

std::string_view take_until(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool alike(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Of the parameters behind a type: 1 unless one is q=.
double weight_in(std::string_view parameters) {
  while (!parameters.empty()) {
    const auto parameter = take_until(parameters, ';');
    if (parameter.size() < 2 || !alike(parameter.substr(0, 2), "q=")) continue;
    double weight = 0;
    const auto text = parameter.substr(2);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
    return error == std::errc{} ? std::clamp(weight, 0.0, 1.0) : 0;
  }
  return 1;
}

int closeness_of(std::string_view range, std::string_view type) {
  if (alike(range, type)) return 2;
  const auto major = type.substr(0, type.find('/') + 1);
  if (range.size() == major.size() + 1 && range.ends_with('*') && alike(range.substr(0, major.size()), major)) return 1;
  return range == "*/*" ? 0 : -1;
}

// The closest range says the weight, whatever the others say.
Wish answer_for(std::string_view type, std::string_view accept) {
  Wish wish;
  for (int place = 0; !accept.empty(); --place) {
    std::string_view range = take_until(accept, ',');
    const auto named = take_until(range, ';');
    const int closeness = closeness_of(named, type);
    if (closeness > wish.closeness) wish = {.weight = weight_in(range), .closeness = closeness, .place = place};
  }
  return wish;
}

}  // namespace

bool wants_ndjson(std::string_view accept) {
  const Wish lines = answer_for("application/x-ndjson", accept);
  return lines.weight > 0 && lines > answer_for("text/event-stream", accept);
}

}  // namespace tidepool::live::http
