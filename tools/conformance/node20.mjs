// The runner takes `globSync` from "fs", which Node has since 22, and calls it in none of the
// scenarios. For Node 20 its import of "fs" is led to a module that has the name.
import { register } from "node:module";

const before = `
export * from "node:fs";
export function globSync() {
  throw new Error("globSync needs Node 22");
}`;
const fs = `data:text/javascript,${encodeURIComponent(before)}`;
const hooks = `
export async function resolve(name, context, next) {
  const asks = name === "fs" && context.parentURL?.includes("/conformance/dist/");
  return asks ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
