// A field of a job file that is one of a few words.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/word_list.hpp"

namespace tidepool::api::v1 {

// One of `words`; anything else is a finding that lists them.
[[nodiscard]] inline std::string one_of(ObjectReader& in, std::string_view field, const std::vector<std::string>& words,
                                        const std::string& fallback) {
  std::string word = in.text(field, fallback);
  if (word == fallback || std::find(words.begin(), words.end(), word) != words.end()) return word;
  const auto near = nearest_word(word, words);
  in.fail(
      field, "Invalid",
      "is \"" + word + "\"; it must be one of " + word_list(words) + (near ? " (did you mean " + *near + "?)" : ""));
  return fallback;
}

}  // namespace tidepool::api::v1
