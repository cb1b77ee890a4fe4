#include "workers/agent/notice/notice_text.hpp"

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/number_text.hpp"

namespace tidepool::agent {
namespace {

// A number from here on is a time: no notice is given thirty years ahead.
constexpr std::int64_t kFirstTime = 1'000'000'000;
constexpr std::int64_t kLastTime = 100'000'000'000;

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// "Z", "+02:00", "-0530"; none: it is not an offset.
std::optional<Duration> offset_of(const std::string& text) {
  if (text == "Z" || text == "z") return Duration();
  int hours = 0;
  int minutes = 0;
  int used = 0;
  const bool colon = std::sscanf(text.c_str() + 1, "%2d:%2d%n", &hours, &minutes, &used) == 2;
  if (!colon && std::sscanf(text.c_str() + 1, "%2d%2d%n", &hours, &minutes, &used) != 2) return std::nullopt;
  if (static_cast<std::size_t>(used) + 1 != text.size() || hours < 0 || minutes < 0) return std::nullopt;
  const Duration size = Duration::seconds(3600LL * hours + 60LL * minutes);
  if (text[0] == '+') return size;
  return text[0] == '-' ? std::optional(Duration() - size) : std::nullopt;
}

std::optional<Instant> time_of(std::string_view text) {
  const std::string all(text);
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int used = 0;
  const int read =
      std::sscanf(all.c_str(), "%4d-%2u-%2u%*1[Tt ]%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &used);
  if (read != 6 || used == 0) return std::nullopt;
  auto end = static_cast<std::size_t>(used);
  if (end < all.size() && all[end] == '.') end = std::min(all.find_first_not_of("0123456789", end + 1), all.size());
  if (end == all.size()) return std::nullopt;
  const auto offset = offset_of(all.substr(end));
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!offset || !date.ok() || hour > 23 || minute > 59 || second > 60 || hour < 0 || minute < 0 || second < 0) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = days * 86'400 + hour * 3'600LL + minute * 60LL + second;
  return Instant::from_micros(seconds * 1'000'000) - *offset;
}

std::optional<Instant> end_of(std::string_view text, Instant since) {
  const auto number = parse_number<std::int64_t>(text);
  if (number && *number >= 0 && *number < kLastTime) {
    return *number < kFirstTime ? since + Duration::seconds(*number) : Instant::from_micros(*number * 1'000'000);
  }
  if (const auto left = parse_duration(text); left.ok() && *left >= Duration()) return since + *left;
  return time_of(text);
}

}  // namespace

NoticeEnd read_notice(std::string_view text, Instant since, Duration lead) {
  text = trimmed(text);
  if (text.empty() || text == "TRUE" || text == "true") return {since + lead};
  if (text.front() == '{') {
    const auto document = parse_json(text);
    const bool named = document.ok() && document->contains("time") && document->at("time").is_string();
    const auto at = named ? time_of(document->at("time").get<std::string>()) : std::nullopt;
    return at ? NoticeEnd{*at} : NoticeEnd{since + lead, false};
  }
  const auto at = end_of(text, since);
  return at ? NoticeEnd{*at} : NoticeEnd{since + lead, false};
}

}  // namespace tidepool::agent
