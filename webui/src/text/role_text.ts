// In the place of what a token may not do.
export const kReadsOnly = "Your token may only read.";
