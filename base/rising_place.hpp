// The position of a number in an ascending list of pieces without duplicates: the words of an IdSet, the pages of an
// IdTable. One step if no number between the first piece and the wanted one is missing, else a binary search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace tidepool {

// Returns the position of the piece with that number, or of the first piece after the place where it would be;
// `number_of(piece)` is a piece's number. Numbers rise by at least one, so a piece is at most as far from the first
// piece as their numbers differ. Requires: the pieces are in ascending order of their numbers, and no two have the same
// number.
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
