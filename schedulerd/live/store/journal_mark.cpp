#include "schedulerd/live/store/journal_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/digest.hpp"

namespace tidepool::live {
namespace {

using Words = std::array<std::uint64_t, 2>;

std::uint64_t guard_of(std::uint64_t seq) {
  return Digest().mix("journal mark").mix(seq).value();
}

}  // namespace

JournalMark::JournalMark(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}

JournalMark::~JournalMark() {
  if (file_ >= 0) ::close(file_);
}

JournalMark::JournalMark(JournalMark&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

std::optional<std::uint64_t> JournalMark::read() const {
  Words words{};
  if (file_ < 0 || ::pread(file_, words.data(), sizeof words, 0) != sizeof words) return std::nullopt;
  return words[1] == guard_of(words[0]) ? std::optional(words[0]) : std::nullopt;
}

void JournalMark::write(std::uint64_t seq) const {
  const Words words{seq, guard_of(seq)};
  // A failed write leaves an older mark, which is still true.
  if (file_ >= 0 && ::pwrite(file_, words.data(), sizeof words, 0) < 0) return;
}

}  // namespace tidepool::live
