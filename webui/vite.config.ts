import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    // Nothing may be inlined: the page is served under a content security policy without data: scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    // `npm run dev` against a running daemon: TIDEPOOL_URL=http://127.0.0.1:7480 npm run dev
    proxy: { "/v1": process.env.TIDEPOOL_URL ?? "http://127.0.0.1:7480" },
  },
});
