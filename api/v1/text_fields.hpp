// Fields of a job file that are texts, lists of texts or texts by name: 4096 bytes each at most where nothing else is
// said, without NUL.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace tidepool::api::v1 {

inline constexpr std::size_t kTextMax = 4096;

[[nodiscard]] std::string bounded_text(ObjectReader& in, std::string_view field);
// Null = none; else 1 to `entries_max`.
[[nodiscard]] std::vector<std::string> read_texts(ObjectReader& in, std::string_view field, std::size_t entries_max);

struct TextMapForm {
  std::size_t entries_max = 0;
  std::size_t bytes_max = kTextMax;      // of each text
  std::string advice = "quote numbers";  // ends what is said of an entry that is no such text
};
// Null = none; an entry that is no such text is a finding, and left out.
[[nodiscard]] std::map<std::string, std::string> text_map(ObjectReader& in, std::string_view field,
                                                          const TextMapForm& form);

}  // namespace tidepool::api::v1
