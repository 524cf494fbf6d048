import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, install } from './steps.mjs';

// Runs `main` of a TypeScript file with everything built: node scripts/run.mjs bench/main.ts --quick
const [file = '', ...args] = process.argv.slice(2);

await install();
await build();
// In this process, so that Ctrl-C and signals reach the one that ends the programs it has started.
const { register } = await import('tsx/esm/api');
register();
const { main } = await import(pathToFileURL(resolve(file)).href);
process.exitCode = await main(args);
