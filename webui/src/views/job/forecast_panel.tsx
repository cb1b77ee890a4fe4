// When the job is expected to start and end, between which times in eight of ten cases, and how good that was of late.
import type { Forecast, Job } from "../../api/types";
import { useNow } from "../../page/now";
import { Lanes } from "../../parts/lanes";
import { When } from "../../parts/when";
import { isOver } from "../../state/model";
import { useSelect } from "../../state/store";
import { budgetText, forecastLine, forecastTitle, noEndText, noForecastText, observedText, restsOn, startOf, startsAfterText, takenText, unaskedText, whenExpected } from "../../text/forecast_text";
import { money } from "../../text/format";

export function ForecastPanel({ job }: { job: Job }) {
  const now = useNow();
  if (isOver(job.state)) return null;
  return (
    <section class="card forecast-panel" aria-labelledby="forecast-title">
      <header class="card-head">
        <h2 id="forecast-title">Forecast</h2>
        {job.forecast && <span class="quiet">made <When at={job.forecast.computed_at} /></span>}
      </header>
      {job.forecast
        ? <Body job={job} forecast={job.forecast} now={now} />
        : <p class="empty-line" data-testid="forecast">{noForecastText(job)}</p>}
    </section>
  );
}

function Body({ job, forecast, now }: { job: Job; forecast: Forecast; now: number }) {
  const observed = useSelect((state) => state.forecasts?.observed);
  const start = startOf(job);
  const { end, cost } = forecast;
  const what = start ? "start" : "end";
  const show = (amount: string) => money(amount, job.cost.currency);
  return (
    <>
      <p class="forecast-main" data-testid="forecast" title={forecastTitle(job) ?? undefined}>{upper(forecastLine(job, now) ?? "no time can be told")}</p>
      {startsAfterText(job, now) !== null && <p data-testid="starts-after">{startsAfterText(job, now)}</p>}
      {takenText(forecast, now) !== null && <p data-testid="taken">{takenText(forecast, now)}</p>}
      {budgetText(forecast, now) !== null && <p data-testid="forecast-budget">{budgetText(forecast, now)}</p>}
      {start && end && <p>Ends {whenExpected(end, now)}.</p>}
      <Lanes start={start} end={end} now={now} />
      {end === null
        ? <p class="quiet small">{noEndText(forecast, now)}</p>
        : <p class="quiet small">Expected cost by then: {show(cost.expected)} ({show(cost.low)}–{show(cost.high)}), {restsOn(end.basis)}.</p>}
      {unaskedText(forecast) !== null && <p class="quiet small">{unaskedText(forecast)}</p>}
      {(start || end) && <p class="quiet small" data-testid="observed">{observedText(what, observed?.[what])}</p>}
    </>
  );
}

const upper = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
