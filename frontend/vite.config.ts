import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  build: {
    // WebKitGTK 2.40 and WKWebView of macOS 13 are the oldest engines a window runs in.
    target: "safari16",
    outDir: "dist/app",
    emptyOutDir: true,
    // Lazy languages and diagrams are many small files; the largest is Mermaid.
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es" },
  server: {
    // `npm run dev` beside a running `berth serve --listen 127.0.0.1:7411`.
    proxy: { "/api": { target: process.env.BERTH_URL ?? "http://127.0.0.1:7411", ws: true } },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});
