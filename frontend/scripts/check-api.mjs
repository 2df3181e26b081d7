// Fails when src/api/schema.d.ts is not what docs/openapi.json generates.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "berth-api-"));
const fresh = join(dir, "schema.d.ts");
try {
  execFileSync("npx", ["openapi-typescript", "../docs/openapi.json", "-o", fresh], {
    cwd: root,
    stdio: "ignore",
  });
  if (readFileSync(fresh, "utf8") !== readFileSync(join(root, "src/api/schema.d.ts"), "utf8")) {
    console.error("src/api/schema.d.ts is stale: run `npm run generate:api`.");
    process.exit(1);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
