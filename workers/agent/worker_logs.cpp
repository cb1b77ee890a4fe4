#include "workers/agent/worker_logs.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDetailBytes = 300;
constexpr std::int64_t kTailBytes = 8'192;
constexpr std::int64_t kLineBytes = 8'192;  // a longer line may lose its beginning when the log is cut
constexpr std::int64_t kChunkBytes = 65'536;

// The part of a log that still contains bytes.
struct Extent {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

std::string read_at(int file, std::int64_t offset, std::int64_t length) {
  std::string bytes(static_cast<std::size_t>(length), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got =
        ::pread(file, bytes.data() + have, bytes.size() - have, static_cast<off_t>(offset) + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

// A hole frees whole blocks; in the block where it ends, the beginning is left as zeros.
std::int64_t behind_zeros(int file, Extent extent) {
  while (extent.begin < extent.end) {
    const std::string bytes = read_at(file, extent.begin, std::min(kTailBytes, extent.end - extent.begin));
    const std::size_t printed = bytes.find_first_not_of('\0');
    if (printed != std::string::npos) return extent.begin + static_cast<std::int64_t>(printed);
    if (bytes.empty()) break;
    extent.begin += static_cast<std::int64_t>(bytes.size());
  }
  return extent.begin;
}

Extent extent_of(int file) {
  struct stat info{};
  if (::fstat(file, &info) != 0) return {};
  Extent extent{.begin = ::lseek(file, 0, SEEK_DATA), .end = info.st_size};
  if (extent.begin <= 0) return {.begin = 0, .end = extent.end};  // nothing was cut, or the file is empty
  extent.begin = behind_zeros(file, extent);
  return extent;
}

// Where the first whole line at or after the offset begins, or the offset itself within a line that is too long.
std::int64_t start_of_line(int file, std::int64_t offset) {
  const std::size_t newline = read_at(file, offset - 1, kLineBytes).find('\n');
  return newline == std::string::npos ? offset : offset + static_cast<std::int64_t>(newline);
}

std::int64_t start_of_page(const Extent& extent, std::int64_t offset) {
  // A negative offset counts from the end; its sum cannot overflow, since end is never negative.
  const std::int64_t wanted = offset < 0 ? extent.end + offset : offset;
  return std::clamp(wanted, extent.begin, extent.end);
}

}  // namespace

WorkerLogs::WorkerLogs(fs::path folder, LogLimits limits) : folder_(std::move(folder)), limits_(limits) {}

Result<WorkerLogs> WorkerLogs::open(const fs::path& folder, LogLimits limits) {
  TP_TRY(make_private_folder(folder));
  return WorkerLogs(folder, limits);
}

fs::path WorkerLogs::path_of(WorkerId worker) const {
  return folder_ / (worker.text() + ".log");
}

Result<UniqueFd> WorkerLogs::writer(WorkerId worker) const {
  UniqueFd file(::open(path_of(worker).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file) return errno_error("create the log " + path_of(worker).string());
  return file;
}

void WorkerLogs::note(WorkerId worker, const std::string& sentence) const {
  const UniqueFd file(::open(path_of(worker).c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file) return;
  const std::int64_t end = extent_of(file.get()).end;
  const bool in_line = end > 0 && read_at(file.get(), end - 1, 1) != "\n";
  (void)write_all(file.get(), std::string(in_line ? "\n" : "") + "tidepool: " + sentence + "\n");
}

api::LogChunk WorkerLogs::read(const api::LogRead& order, bool lives) const {
  api::LogChunk chunk{.request = order.request, .worker = order.worker, .eof = !lives};
  const UniqueFd file(::open(path_of(order.worker).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return chunk;
  const Extent extent = extent_of(file.get());
  chunk.offset = start_of_page(extent, order.offset);
  chunk.data = read_at(file.get(), chunk.offset, std::min({order.limit, kChunkBytes, extent.end - chunk.offset}));
  const bool more = lives || chunk.offset + static_cast<std::int64_t>(chunk.data.size()) < extent.end;
  const std::size_t whole = whole_utf8_length(chunk.data);
  // A limit smaller than one character would otherwise never get past that character.
  const bool stuck = whole == 0 && static_cast<std::int64_t>(chunk.data.size()) == order.limit;
  if (more && !stuck) chunk.data.resize(whole);
  chunk.next_offset = chunk.offset + static_cast<std::int64_t>(chunk.data.size());
  chunk.eof = !lives && chunk.next_offset >= extent.end;
  return chunk;
}

std::string WorkerLogs::last_line(WorkerId worker) const {
  const UniqueFd file(::open(path_of(worker).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  const Extent extent = extent_of(file.get());
  const std::int64_t begin = std::max(extent.begin, extent.end - kTailBytes);
  std::string text = read_at(file.get(), begin, extent.end - begin);
  while (!text.empty()) {
    const std::size_t newline = text.find_last_of("\n\r");
    const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
    std::string line = text.substr(start);
    std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
    const std::size_t first = line.find_first_not_of(' ');
    // The agent's own line, written by note().
    const bool is_note = line.starts_with("tidepool: what " + worker.text() + " wrote");
    if (first != std::string::npos && !is_note) {
      line = line.substr(first, line.find_last_not_of(' ') + 1 - first);
      line.resize(whole_utf8_length(line));
      return shortened_to(line, kDetailBytes);
    }
    text.resize(newline == std::string::npos ? 0 : newline);
  }
  return {};
}

std::string WorkerLogs::last_output(WorkerId worker) const {
  const std::string line = last_line(worker);
  return line.empty() ? line : "last output: \"" + line + "\"";
}

Status WorkerLogs::cut(WorkerId worker) const {
  const UniqueFd file(::open(path_of(worker).c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return ok_status();
  const Extent extent = extent_of(file.get());
  if (extent.end - extent.begin <= 2 * limits_.bytes_max) return ok_status();
  const off_t hole = start_of_line(file.get(), extent.end - limits_.bytes_max);
  if (::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, hole) == 0) return ok_status();
  return errno_error("shorten the log " + path_of(worker).string());
}

void WorkerLogs::remove(WorkerId worker) const {
  std::error_code error;
  fs::remove(path_of(worker), error);
}

void WorkerLogs::clear() const {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    paths.push_back(entry->path());
  }
  for (const fs::path& path : paths) fs::remove(path, error);
}

void WorkerLogs::prune(const std::function<bool(WorkerId)>& keep) const {
  struct Candidate {
    fs::file_time_type at;
    fs::path path;
  };
  std::vector<Candidate> candidates;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    const auto worker = WorkerId::parse(entry->path().stem().string());
    if (worker && !keep(*worker)) candidates.push_back({entry->last_write_time(error), entry->path()});
  }
  if (candidates.size() <= limits_.files_max) return;
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return std::tie(a.at, a.path) < std::tie(b.at, b.path); });
  candidates.resize(candidates.size() - limits_.files_max);
  for (const auto& candidate : candidates) fs::remove(candidate.path, error);
}

}  // namespace tidepool::agent
