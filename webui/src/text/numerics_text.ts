// What the gradient's noise says about the batch, in a sentence; null before the first report.
import type { Progress } from "../api/types";
import { count, percent, quantity } from "./format";

export function numericsText(progress: Progress): string | null {
  const { global_batch, noise_scale, statistical_efficiency } = progress;
  if (global_batch === null) return null;
  const batch = `A step has ${count(global_batch)} samples`;
  if (noise_scale === null) return `${batch}; the noise of the gradient is not known yet.`;
  const taught = statistical_efficiency === null ? "" : `; statistical efficiency ${percent(statistical_efficiency)} (progress per sample, compared with the batch size of the job file)`;
  return `${batch} and the gradient noise scale is ${quantity(noise_scale)} samples${taught}${advice(global_batch, noise_scale)}.`;
}

// Below the noise scale a doubled batch nearly halves the steps; far above it, it saves few (McCandlish et al. 2018).
function advice(batch: number, noise: number): string {
  if (batch * 2 <= noise) return ". A larger batch would still save many steps";
  if (batch >= noise * 2) return ". A larger batch would save few steps";
  return "";
}
