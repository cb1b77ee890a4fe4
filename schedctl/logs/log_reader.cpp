#include "schedctl/logs/log_reader.hpp"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

namespace tidepool::ctl {
namespace {

constexpr std::int64_t kPage = 65'536;  // bytes that the daemon gives at once

std::string header(const HttpReply& reply, const std::string& name) {
  const auto found = reply.headers.find(name);
  return found == reply.headers.end() ? "" : found->second;
}

// Where the last so many lines of `text` begin.
std::int64_t begin_of_tail(const std::string& text, std::int64_t lines) {
  std::size_t begin = text.size();
  if (begin > 0 && text.back() == '\n') --begin;
  for (; lines > 0 && begin > 0; --lines) {
    const std::size_t newline = text.rfind('\n', begin - 1);
    if (newline == std::string::npos) return 0;
    begin = newline;
  }
  return static_cast<std::int64_t>(begin == 0 ? 0 : std::min(begin + 1, text.size()));
}

}  // namespace

bool LogReader::read(const std::string& worker, bool with_name) {
  const bool is_new = !places_.contains(worker);
  Place& place = places_[worker];
  if (is_new && tail_) skip_to_tail(worker, place);
  while (!place.eof) {
    const HttpReply page =
        session_.get_text(path_ + "?worker=" + escape_url(worker) + "&offset=" + std::to_string(place.offset));
    place.eof = header(page, "tidepool-log-end") == "true";
    const std::string next = header(page, "tidepool-next-offset");
    std::from_chars(next.data(), next.data() + next.size(), place.offset);
    print(worker, with_name, place, page.body);
    if (page.body.empty()) break;
  }
  return place.eof;
}

// Where the newest lines begin, as far as one page from the end holds them.
void LogReader::skip_to_tail(const std::string& worker, Place& place) {
  const HttpReply page =
      session_.get_text(path_ + "?worker=" + escape_url(worker) + "&offset=-" + std::to_string(kPage));
  const std::string next = header(page, "tidepool-next-offset");
  std::int64_t end = 0;
  std::from_chars(next.data(), next.data() + next.size(), end);
  place.offset = end - static_cast<std::int64_t>(page.body.size()) + begin_of_tail(page.body, *tail_);
}

void LogReader::print(const std::string& worker, bool with_name, Place& place, const std::string& data) {
  if (session_.format() != OutputFormat::kTable) {
    if (!data.empty()) session_.print_next({{"worker", worker}, {"data", data}}, nullptr);
    return;
  }
  place.unfinished += data;
  if (place.eof && !place.unfinished.empty() && !place.unfinished.ends_with('\n')) place.unfinished += '\n';
  std::size_t begin = 0;
  for (auto end = place.unfinished.find('\n'); end != std::string::npos; end = place.unfinished.find('\n', begin)) {
    write_out((with_name ? worker + " | " : "") + printable(place.unfinished.substr(begin, end - begin)) + "\n");
    begin = end + 1;
  }
  place.unfinished.erase(0, begin);
}

}  // namespace tidepool::ctl
