#include "core/state/reason.hpp"

#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/state/reason_read.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kIdentityMost = 4;

// The numbers that make a reason news, in the order of its fields.
class Identity {
 public:
  template <class T>
  constexpr void operator()(const char*, const T& value, unsigned use = reason::kPlain) {
    if constexpr (requires { T::fields(value, *this); }) {
      T::fields(value, *this);
    } else if ((use & reason::kIdentity) != 0) {
      values_[count_++] = number(value);
    }
  }
  template <class T>
  constexpr void operator()(const char* name, const std::optional<T>& value, unsigned use = reason::kPlain) {
    if constexpr (requires(T& inner) { T::fields(inner, *this); }) {
      (*this)(name, value.value_or(T{}), use);
    } else if ((use & reason::kIdentity) != 0) {
      values_[count_++] = value ? number(*value) : 0;
    }
  }
  constexpr void operator()(const char*, const reason::Judgement& by, unsigned = reason::kPlain) {
    if (const auto* merit = std::get_if<reason::ByMerit>(&by)) measure_ = merit->measure;
    if (const auto* turn = std::get_if<reason::ByTurn>(&by)) measure_ = turn->measure;
    if (std::holds_alternative<reason::ByPromise>(by)) measure_ = Measure::kPromise;
  }
  bool operator==(const Identity&) const = default;

 private:
  template <class T>
  static constexpr std::int64_t number(T value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<std::int64_t>(value);
    } else if constexpr (requires { value.number(); }) {
      return static_cast<std::int64_t>(value.number());
    } else {
      return 0;
    }
  }

  std::array<std::int64_t, kIdentityMost> values_{};
  std::size_t count_ = 0;
  Measure measure_ = Measure::kOwn;
};

template <class R>
Identity identity_of(const R& told) {
  Identity identity;
  R::fields(told, identity);
  return identity;
}

using TakeTold = void (*)(void* any, void* told);

template <class R>
void take_told(void* any, void* told) {
  std::construct_at(static_cast<AnyReason*>(any), std::in_place_type<R>, std::move(*static_cast<R*>(told)));
}

template <class... Told>
constexpr std::array<TakeTold, sizeof...(Told)> takes_of(ReasonList<Told...> /*all*/) {
  return {take_told<Told>...};
}

}  // namespace

Reason::Reason() : Reason(reason::Measuring{}) {}
Reason::Reason(std::size_t place, void* told) {
  static constexpr auto kTakes = takes_of(AllReasons());
  kTakes[place](ReasonAccess::place(*this), told);
}
Reason::Reason(const Reason& other) {
  std::construct_at(static_cast<AnyReason*>(ReasonAccess::place(*this)), ReasonAccess::of(other));
}
Reason::Reason(Reason&& other) noexcept {
  std::construct_at(static_cast<AnyReason*>(ReasonAccess::place(*this)), std::move(ReasonAccess::of(other)));
}
Reason& Reason::operator=(const Reason& other) {
  ReasonAccess::of(*this) = ReasonAccess::of(other);
  return *this;
}
Reason& Reason::operator=(Reason&& other) noexcept {
  ReasonAccess::of(*this) = std::move(ReasonAccess::of(other));
  return *this;
}
Reason::~Reason() {
  std::destroy_at(&ReasonAccess::of(*this));
}

bool Reason::operator==(const Reason& other) const {
  return ReasonAccess::of(*this) == ReasonAccess::of(other);
}

bool says_the_same(const Reason& one, const Reason& other) {
  return visit_reason(
      [&]<class R>(const R& told) {
        const R* also = reason_as<R>(other);
        if (also == nullptr) return false;
        if constexpr (requires { told.word; }) {
          if (told.word != also->word) return false;
        }
        return identity_of(told) == identity_of(*also);
      },
      one);
}

const reason::Traits& traits_of(const Reason& reason) {
  return visit_reason([]<class R>(const R&) -> const reason::Traits& { return R::kTraits; }, reason);
}

bool same_kind(const Reason& one, const Reason& other) {
  return ReasonAccess::of(one).index() == ReasonAccess::of(other).index();
}

}  // namespace tidepool::core
