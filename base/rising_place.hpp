// Where a number stands in an ascending list of pieces without duplicates: the words of an IdSet, the pages of an
// IdTable. One step where no number between the first piece and the wanted one is missing, else a binary search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace tidepool {

// Of the piece with that number, or of the first one behind where it would be; `number_of(piece)` is a piece's number.
// Numbers rise by one at least, so a piece lies no farther from the first one than their numbers do.
// Requires: the pieces are in ascending order of their numbers, and no two have the same.
template <class Piece, class NumberOf>
[[nodiscard]] std::size_t rising_place(const std::vector<Piece>& pieces, std::uint64_t number,
                                       const NumberOf& number_of) {
  if (pieces.empty() || number <= number_of(pieces.front())) return 0;
  const auto most =
      static_cast<std::size_t>(std::min<std::uint64_t>(number - number_of(pieces.front()), pieces.size()));
  if (most < pieces.size() && number_of(pieces[most]) == number) return most;
  const auto found =
      std::lower_bound(pieces.begin(), std::next(pieces.begin(), static_cast<std::ptrdiff_t>(most)), number,
                       [&](const Piece& piece, std::uint64_t wanted) { return number_of(piece) < wanted; });
  return static_cast<std::size_t>(found - pieces.begin());
}

}  // namespace tidepool
