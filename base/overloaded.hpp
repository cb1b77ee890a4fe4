// visit() with one lambda per case; a new case that nobody handles does not compile.
#pragma once

namespace tidepool {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace tidepool
