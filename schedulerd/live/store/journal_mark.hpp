// A sixteen-byte file with the journal's position at its last commit. It is written after each commit and never synced,
// so it may lag after a power failure but is never ahead: a journal that ends before its mark has lost acknowledged
// rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tidepool::live {

class JournalMark {
 public:
  // A mark that cannot be opened or read counts as absent: it only detects lost rows, recovery does not need it.
  explicit JournalMark(const std::string& path);
  ~JournalMark();
  JournalMark(JournalMark&& other) noexcept;
  JournalMark(const JournalMark&) = delete;
  JournalMark& operator=(const JournalMark&) = delete;
  JournalMark& operator=(JournalMark&&) = delete;

  [[nodiscard]] std::optional<std::uint64_t> read() const;
  void write(std::uint64_t seq) const;

 private:
  int file_ = -1;
};

}  // namespace tidepool::live
