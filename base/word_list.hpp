// Words as one phrase, "a, b, c": for the sentences that name what there is to choose from.
// The words stand in the order in which they are given.
#pragma once

#include <functional>
#include <string>

namespace tidepool {

// `word` says what of each entry stands in the list, such as &TraceFormat::name: something that can be added to a
// string. No entries are an empty phrase.
template <class Entries, class Word = std::identity>
[[nodiscard]] std::string word_list(const Entries& entries, Word word = {}) {
  std::string text;
  bool first = true;
  for (const auto& entry : entries) {
    if (!first) text += ", ";
    text += std::invoke(word, entry);
    first = false;
  }
  return text;
}

// The same of whole numbers.
template <class Numbers>
[[nodiscard]] std::string number_list(const Numbers& numbers) {
  return word_list(numbers, [](auto number) { return std::to_string(number); });
}

}  // namespace tidepool
