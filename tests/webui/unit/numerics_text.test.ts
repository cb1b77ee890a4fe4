import { numericsText } from "~/text/numerics_text";
import { job } from "./samples";

const progress = { ...job().progress, global_batch: 512, noise_scale: 600, statistical_efficiency: 1 };

test("before the first report nothing is said of the batch, then that its noise is not known yet", () => {
  expect(numericsText({ ...progress, global_batch: null })).toBeNull();
  expect(numericsText({ ...progress, noise_scale: null, statistical_efficiency: null })).toBe(
    "A step has 512 samples; the noise of the gradient is not known yet.");
});

test("noise scale and statistical efficiency are told in one sentence", () => {
  expect(numericsText({ ...progress, global_batch: 800, statistical_efficiency: 0.78 })).toBe(
    "A step has 800 samples and the gradient noise scale is 600 samples; statistical efficiency 78\u00a0% (progress per sample, compared with the batch size of the job file).");
});

test("the sentence says when a larger batch would save steps", () => {
  expect(numericsText({ ...progress, noise_scale: 1024 })).toContain(". A larger batch would still save many steps.");
  expect(numericsText({ ...progress, noise_scale: 256 })).toContain(". A larger batch would save few steps.");
});
