import { build, install } from './steps.mjs';

await install();
await build();
// In this process, so that Ctrl-C and signals reach the one that ends the measured servers: npm run bench -- --smoke
const { register } = await import('tsx/esm/api');
register();
const { main } = await import('../bench/main.ts');
process.exitCode = await main(process.argv.slice(2));
