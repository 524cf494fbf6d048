#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../lib/main.js', import.meta.url);
if (existsSync(main)) {
  const { run } = await import(main.href);
  await run(process.argv);
} else {
  console.error('porthole is not built yet: run "npm run build" in the checkout (npm start and npm test do it too)');
  process.exitCode = 2;
}
