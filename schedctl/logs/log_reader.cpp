#include "schedctl/logs/log_reader.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/byte_size.hpp"
#include "base/number_text.hpp"
#include "schedctl/logs/tail_search.hpp"

namespace tidepool::ctl {
namespace {

constexpr std::int64_t kPage = 65'536;  // bytes that the daemon gives at once
constexpr std::int64_t kEndBytes = 4;   // of the end of a log, to know where it is: the longest character
constexpr std::size_t kHeldBack = 3;    // at most, of a character that is not whole at the end of a page
constexpr int kLooksPerBar = 10;        // of a progress bar that is followed one state is printed

std::string header(const HttpReply& reply, const std::string& name) {
  const auto found = reply.headers.find(name);
  return found == reply.headers.end() ? "" : found->second;
}

std::int64_t number_header(const HttpReply& reply, const std::string& name) {
  return parse_number<std::int64_t>(header(reply, name)).value_or(0);
}

// What a terminal would show of a line in the end: what stands behind its last carriage return.
std::string_view as_left(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  return line.substr(line.rfind('\r') + 1);
}

// What is written over for certain is not kept: a bar that is never finished would grow without end. True if any was.
bool forget_written_over(std::string& unfinished) {
  if (unfinished.size() < 2) return false;
  const auto over = unfinished.rfind('\r', unfinished.size() - 2);
  if (over == std::string::npos) return false;
  unfinished.erase(0, over + 1);
  return true;
}

}  // namespace

bool LogReader::read(const std::string& worker, bool with_name) {
  auto known = places_.find(worker);
  if (known == places_.end()) {
    Place first;
    if (tail_) first.offset = begin_of_tail(worker);  // fails where its node is away; then nothing is known yet
    known = places_.emplace(worker, std::move(first)).first;
  }
  Place& place = known->second;
  const std::int64_t begin = place.offset;
  std::optional<std::int64_t> end;  // that the log had: a worker may print faster than this reads
  while (!place.eof && (!end || place.offset < *end)) {
    const Page page = page_at(worker, place.offset, kPage);
    place.eof = page.eof;
    print(worker, with_name, place, page);
    place.offset = page.next_offset;
    // Behind a short page there was nothing; a worker that prints all the time has no empty one.
    if (page.eof || page.data.size() + kHeldBack < static_cast<std::size_t>(kPage)) break;
    if (!end) end = page_at(worker, -kEndBytes, kEndBytes).next_offset;
  }
  print_unfinished(worker, with_name, place, !follows_ || place.offset == begin);
  return place.eof;
}

LogReader::Page LogReader::page_at(const std::string& worker, std::int64_t offset, std::int64_t bytes) {
  HttpReply reply = session_.get_text(path_ + "?worker=" + escape_url(worker) + "&offset=" + std::to_string(offset) +
                                      (bytes < kPage ? "&limit=" + std::to_string(bytes) : ""));
  return {.data = std::move(reply.body),
          .offset = number_header(reply, "tidepool-offset"),
          .next_offset = number_header(reply, "tidepool-next-offset"),
          .eof = header(reply, "tidepool-log-end") == "true"};
}

// Measured from the ends of pages: a character that a page begins within is replaced by a longer one.
std::int64_t LogReader::begin_of_tail(const std::string& worker) {
  TailSearch search(*tail_);
  Page page = page_at(worker, -kPage, kPage);
  std::int64_t begin = page.next_offset - static_cast<std::int64_t>(page.data.size());
  while (true) {
    if (const auto back = search.take(page.data)) return page.next_offset - static_cast<std::int64_t>(*back);
    const std::int64_t earlier = std::max<std::int64_t>(0, begin - kPage);
    if (earlier >= begin) return 0;
    page = page_at(worker, earlier, begin - earlier);
    const std::int64_t first = page.next_offset - static_cast<std::int64_t>(page.data.size());
    if (first >= begin) return 0;  // what lay before is no longer kept, which the first page tells
    begin = std::max(earlier, first);
  }
}

void LogReader::print(const std::string& worker, bool with_name, Place& place, const Page& page) {
  const std::string& data = page.data;
  const std::int64_t dropped = page.offset - place.offset;
  has_printed_ = has_printed_ || !data.empty();
  if (session_.format() != OutputFormat::kTable) {
    nlohmann::json piece{{"worker", worker}, {"data", data}};
    if (dropped > 0) piece["dropped_bytes"] = dropped;
    if (!data.empty() || dropped > 0) session_.print_next(piece, nullptr);
    return;
  }
  if (dropped > 0) print_dropped(worker, dropped);
  // The rest of a line that was begun is gone, and what comes is no part of it.
  if (dropped > 0 && !place.unfinished.empty()) place.unfinished += '\n';
  place.unfinished += data;
  if (place.eof && !place.unfinished.empty() && !place.unfinished.ends_with('\n')) place.unfinished += '\n';
  std::size_t begin = 0;
  for (auto end = place.unfinished.find('\n'); end != std::string::npos; end = place.unfinished.find('\n', begin)) {
    const auto line = as_left(std::string_view(place.unfinished).substr(begin, end - begin));
    // Its end alone has come.
    if (!line.empty() || !place.is_begun) print_line(worker, with_name, line);
    place.is_begun = place.is_bar = false;
    begin = end + 1;
  }
  place.unfinished.erase(0, begin);
  if (forget_written_over(place.unfinished)) place.is_bar = true;
}

// Of a prompt, or a bar that stands still, what there is; of one that goes on now and then its present state.
void LogReader::print_unfinished(const std::string& worker, bool with_name, Place& place, bool rests) {
  place.looks = place.is_bar ? place.looks + 1 : 0;
  if (place.unfinished.empty() || (!rests && place.looks < kLooksPerBar)) return;
  print_line(worker, with_name, as_left(std::exchange(place.unfinished, {})));
  place.is_begun = true;
  place.looks = 0;
}

void LogReader::print_line(const std::string& worker, bool with_name, std::string_view line) {
  write_out((with_name ? worker + " | " : "") + printable(line) + "\n");
}

// Beside the output, as all that the command itself says.
void LogReader::print_dropped(const std::string& worker, std::int64_t bytes) const {
  std::fprintf(stderr, "schedctl: older output of %s was dropped (%s)\n", worker.c_str(),
               rounded_byte_size(bytes).c_str());
}

}  // namespace tidepool::ctl
