// The report of `schedctl sim compare`: one classic script and one style sheet, which the command puts into one file.
import { defineConfig } from "vite";

export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  publicDir: false,
  build: {
    target: "es2022",
    cssCodeSplit: false,
    reportCompressedSize: false,
    lib: { entry: "src/report/main.tsx", formats: ["iife"], name: "report", fileName: () => "report.js", cssFileName: "report" },
  },
});
