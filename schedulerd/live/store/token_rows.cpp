#include "schedulerd/live/store/token_rows.hpp"

namespace tidepool::live {

leader::TokenRecord token_at(const Row& row) {
  return {row.text(0), row.text(1), row.text(2),          row.text(3),
          row.text(4), row.text(5), row.maybe_integer(6), row.integer(7) != 0};
}

}  // namespace tidepool::live
