// The memory in which a policy host answers, written by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "policies/host/shared_image.hpp"

namespace tidepool::test {

// As the daemon leaves it before a round: nothing answered, nothing said.
class AnswerRegion {
 public:
  explicit AnswerRegion(std::uint32_t jobs, std::uint32_t tenants = 0, std::uint32_t pools = 0)
      : layout_(jobs, tenants, pools), bytes_(layout_.end) {
    for (std::uint64_t at = layout_.admit; at < layout_.why; at += 8) put(at, policies::host::kUnset);
  }
  template <class T>
  void put(std::uint64_t at, const T& value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void hooks(std::uint32_t hooks) { put(offsetof(policies::host::AnswersHeader, hooks), hooks); }
  [[nodiscard]] const policies::host::AnswersLayout& layout() const { return layout_; }
  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }

 private:
  policies::host::AnswersLayout layout_;
  std::vector<std::byte> bytes_;
};

}  // namespace tidepool::test
