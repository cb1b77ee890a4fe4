#include "policies/tidal/type_market.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "policies/models/linear_program.hpp"

namespace tidepool::policies::tidal {
namespace {

constexpr int kCutsMax = 200;
constexpr double kCloseEnough = 1e-6;  // of the bound

class TypeMarket {
 public:
  TypeMarket(const std::vector<TypedBid>& bids, const std::vector<int>& slots, core::StepBudget& budget)
      : bids_(bids), budget_(budget) {
    sale_.free = slots;
    sale_.prices.assign(slots.size(), 0);
    for (const TypedBid& bid : bids) {
      TP_CHECK(bid.size() == slots.size(), "a bid has a curve per type");
      sale_.choices.push_back(first_of(bid));
    }
  }

  TypeSale sell() && {
    find_prices();
    for (const TypedChoice& kept : sale_.choices) free_of(kept) -= kept.choice.size;
    serve();
    spend_rest();
    for (const TypedChoice& chosen : sale_.choices) sale_.worth += chosen.choice.worth;
    sale_.bound = std::max(sale_.bound, sale_.worth);  // equal but for rounding
    return std::move(sale_);
  }

 private:
  // What a job has at any price.
  static TypedChoice first_of(const TypedBid& bid) {
    for (std::size_t type = 0; type < bid.size(); ++type) {
      if (bid[type].front().size > 0) return {.type = static_cast<int>(type), .choice = bid[type].front()};
    }
    return {.type = 0, .choice = bid.front().front()};
  }
  [[nodiscard]] int& free_of(const TypedChoice& choice) { return sale_.free[static_cast<std::size_t>(choice.type)]; }
  [[nodiscard]] double net(const TypedChoice& choice, const std::vector<double>& prices) const {
    return choice.choice.worth - prices[static_cast<std::size_t>(choice.type)] * choice.choice.size;
  }
  template <typename Visit>
  void each_choice(std::size_t job, Visit visit) const {
    const bool keeps = kept(job).choice.size > 0;
    for (std::size_t type = 0; type < bids_[job].size(); ++type) {
      if (keeps && static_cast<int>(type) != kept(job).type) continue;
      for (const Choice& choice : bids_[job][type]) visit(TypedChoice{static_cast<int>(type), choice});
    }
  }
  [[nodiscard]] TypedChoice kept(std::size_t job) const { return first_of(bids_[job]); }
  [[nodiscard]] TypedChoice best(std::size_t job, const std::vector<double>& prices) const {
    TypedChoice best = kept(job);
    each_choice(job, [&](const TypedChoice& choice) {
      if (net(choice, prices) > net(best, prices)) best = choice;
    });
    return best;
  }

  // The bound at some prices: what every job gains at best, plus the value of all slots. Falls, as a price rises by
  // one, by what is wanted beyond what there is.
  struct Tangent {
    double bound = 0;
    std::vector<double> wanted;
  };
  [[nodiscard]] Tangent tangent(const std::vector<double>& prices) const {
    Tangent at{.bound = 0, .wanted = std::vector<double>(prices.size(), 0)};
    for (std::size_t job = 0; job < bids_.size(); ++job) {
      const TypedChoice choice = best(job, prices);
      at.bound += net(choice, prices);
      at.wanted[static_cast<std::size_t>(choice.type)] += choice.choice.size;
    }
    for (std::size_t type = 0; type < prices.size(); ++type) at.bound += prices[type] * sale_.free[type];
    return at;
  }

  // A price at which no job buys more of a type than it must.
  [[nodiscard]] double highest_price(std::size_t type) const {
    double highest = 0;
    for (const TypedBid& bid : bids_) {
      const Choice& first = bid[type].front();
      for (const Choice& choice : bid[type]) {
        if (choice.size > first.size) {
          highest = std::max(highest, (choice.worth - std::min(0.0, first.worth)) / (choice.size - first.size));
        }
      }
    }
    return highest;
  }

  void find_prices() {
    // Columns: a price per type and the part of the bound above 0.
    LinearProgram program;
    for (std::size_t type = 0; type < sale_.prices.size(); ++type) {
      program.add(LinearProgram::Column{.objective = 0, .high = highest_price(type)});
    }
    const std::size_t bound = program.add(LinearProgram::Column{.objective = -1, .low = -kNoBound});
    std::vector<double> prices = sale_.prices;
    sale_.bound = kNoBound;
    for (int cut = 0; cut < kCutsMax; ++cut) {
      if (!budget_.spend(static_cast<std::int64_t>(bids_.size() * prices.size()))) return;
      const Tangent at = tangent(prices);
      if (at.bound < sale_.bound) {
        sale_.bound = at.bound;
        sale_.prices = prices;
      }
      LinearProgram::Row row{.terms = {{.column = bound, .factor = 1}}, .low = at.bound};
      for (std::size_t type = 0; type < prices.size(); ++type) {
        const double slope = sale_.free[type] - at.wanted[type];
        row.terms.push_back({.column = type, .factor = -slope});
        row.low -= slope * prices[type];
      }
      program.add(std::move(row));
      const LinearAnswer answer = maximize(program, Optimum::kCorner);
      if (answer.values.empty() || -answer.objective >= sale_.bound - kCloseEnough * std::abs(sale_.bound)) return;
      prices.assign(answer.values.begin(), answer.values.end() - 1);
    }
  }

  // Jobs that lose most by not having what they want come first.
  void serve() {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t job = 0; job < bids_.size(); ++job) {
      const TypedChoice wanted = best(job, sale_.prices);
      double second = net(kept(job), sale_.prices);
      each_choice(job, [&](const TypedChoice& choice) {
        const bool other = choice.type != wanted.type || choice.choice.size != wanted.choice.size;
        if (other) second = std::max(second, net(choice, sale_.prices));
      });
      order.emplace_back(second - net(wanted, sale_.prices), job);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [loss, job] : order) {
      free_of(sale_.choices[job]) += sale_.choices[job].choice.size;
      TypedChoice found = sale_.choices[job];
      each_choice(job, [&](const TypedChoice& choice) {
        if (choice.choice.size <= free_of(choice) && net(choice, sale_.prices) > net(found, sale_.prices)) {
          found = choice;
        }
      });
      sale_.choices[job] = found;
      free_of(found) -= found.choice.size;
    }
  }

  // A larger or better choice of a job, compared with its present one.
  struct Step {
    double slope = 0;  // gain per slot more
    std::size_t job = 0;
    int place = 0;  // among the job's choices
    TypedChoice choice;
    int from = 0;  // how many steps the job had taken
    // As of a heap: the steepest comes first, then the first job and its first choice.
    bool operator<(const Step& other) const {
      return std::tie(slope, other.job, other.place) < std::tie(other.slope, job, place);
    }
  };

  void offer(std::size_t job, int from, std::priority_queue<Step>& steps) const {
    const TypedChoice& now = sale_.choices[job];
    int place = 0;
    each_choice(job, [&](const TypedChoice& choice) {
      ++place;
      const double gain = choice.choice.worth - now.choice.worth;
      if (gain <= 0) return;
      const double slope = gain / std::max(1, choice.choice.size - now.choice.size);
      steps.push({.slope = slope, .job = job, .place = place, .choice = choice, .from = from});
    });
  }

  // To the job that gains most by it, per slot more that it takes. A step for which there is no room waits until slots
  // of its type come free, so each step is looked at anew only then: n log n for n choices where no job leaves a type.
  void spend_rest() {
    std::priority_queue<Step> steps;
    std::vector<std::vector<Step>> without_room(sale_.free.size());
    std::vector<int> taken(bids_.size(), 0);  // steps per job
    for (std::size_t job = 0; job < bids_.size(); ++job) offer(job, 0, steps);
    while (!steps.empty() && budget_.spend()) {
      const Step step = steps.top();
      steps.pop();
      if (step.from != taken[step.job]) continue;
      TypedChoice& now = sale_.choices[step.job];
      const int own = step.choice.type == now.type ? now.choice.size : 0;
      if (step.choice.choice.size - own > free_of(step.choice)) {
        without_room[static_cast<std::size_t>(step.choice.type)].push_back(step);
        continue;
      }
      const auto left = static_cast<std::size_t>(now.type);
      const int free_before = sale_.free[left];
      free_of(now) += now.choice.size;
      now = step.choice;
      free_of(now) -= now.choice.size;
      if (sale_.free[left] > free_before) {
        for (const Step& waiting : std::exchange(without_room[left], {})) steps.push(waiting);
      }
      offer(step.job, ++taken[step.job], steps);
    }
  }

  const std::vector<TypedBid>& bids_;
  core::StepBudget& budget_;
  TypeSale sale_;
};

}  // namespace

TypeSale sell(const std::vector<TypedBid>& bids, const std::vector<int>& slots, core::StepBudget& budget) {
  return TypeMarket(bids, slots, budget).sell();
}

}  // namespace tidepool::policies::tidal
