import { fileURLToPath } from "node:url";

// Run from webui/: the packages are there, the tests here.
export default {
  root: fileURLToPath(new URL(".", import.meta.url)),
  resolve: { alias: { "~": fileURLToPath(new URL("../../../webui/src", import.meta.url)) } },
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  server: { fs: { strict: false } },
  test: { globals: true, include: ["*.test.ts"], cache: false },
};
