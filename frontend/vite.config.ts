import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: { outDir: "../src/goishi/web/static", emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { "/api": "http://127.0.0.1:8080", "/play": { target: "ws://127.0.0.1:8080", ws: true } } },
});
