// Why a decision was made: one of a closed list of structs (reasons/*.hpp), each with typed fields. A decision stores
// the struct; the sentence is rendered from it (core/words/sentence.hpp), so the CLI, the API, the dashboard and the
// goldens agree.
//
// Rule: reasons are inert. Code that decides creates, copies and compares reasons but reads none: what the engine must
// know later is a field of the job. Explanations, codecs and documents read them through reason_read.hpp; the lint test
// refuses that header everywhere else.
#pragma once

#include <array>
#include <cstddef>

#include "core/state/reasons/all.hpp"

namespace tidepool::core {

// A struct of reasons/*.hpp.
template <class R>
concept ToldReason = requires { R::kTraits.category; };

// Any one of these structs. The variant of all is only in reason_read.hpp, so that code that decides compiles without
// it.
class Reason {
 public:
  Reason();
  template <ToldReason R>
  Reason(R told)  // NOLINT(google-explicit-constructor)
      : Reason(AllReasons::place_of<R>(), &told) {
    static_assert(kIsListed<R>, "add it to the list of core/state/reasons/all.hpp");
  }
  Reason(const Reason& other);
  Reason(Reason&& other) noexcept;
  Reason& operator=(const Reason& other);
  Reason& operator=(Reason&& other) noexcept;
  ~Reason();

  bool operator==(const Reason& other) const;

 private:
  friend struct ReasonAccess;  // reason_read.hpp
  // `told` is moved from; it is the struct at position `place` in the list.
  Reason(std::size_t place, void* told);
  static constexpr std::size_t kBytes = 160;
  alignas(8) std::array<std::byte, kBytes> any_;
};

// Both state the same, although their measurements may differ: they are the same struct, and agree in the fields that
// name a goal, a worker or a turn, and in the word or measure.
[[nodiscard]] bool says_the_same(const Reason& one, const Reason& other);

}  // namespace tidepool::core
