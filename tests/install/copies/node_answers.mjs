// What Node says: reads questions as JSON from standard input and prints the answers as JSON.
//
//   compare  pairs of texts      -> the sign of a.localeCompare(b) for each
//   hash     lists of [path, bytes in hexadecimal digits]
//                                -> SHA-256 over paths and bytes, sorted by localeCompare
//   lock     JSON texts of locks -> the same after sorting the skills as the installer does

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

function folderHash(files) {
  const hash = createHash("sha256");
  for (const [path, digits] of [...files].sort(([a], [b]) => a.localeCompare(b))) {
    hash.update(path).update(Buffer.from(digits, "hex"));
  }
  return hash.digest("hex");
}

function sortedLock(text) {
  const { version, skills, ...others } = JSON.parse(text);
  const names = Object.keys(skills).sort();
  const sorted = Object.fromEntries(names.map((name) => [name, skills[name]]));
  return JSON.stringify({ version, skills: sorted, ...others }, null, 2) + "\n";
}

const asked = JSON.parse(readFileSync(0, "utf8"));
const answers = {
  compare: asked.compare.map(([a, b]) => Math.sign(a.localeCompare(b))),
  hash: asked.hash.map(folderHash),
  lock: asked.lock.map(sortedLock),
};
process.stdout.write(JSON.stringify(answers));
