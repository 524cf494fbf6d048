import { build, install } from './steps.mjs';

await install();
await build();
// In this process, so that Ctrl-C and signals reach the one that ends the nodes: npm run soak -- --minutes 5
const { register } = await import('tsx/esm/api');
register();
const { main } = await import('../e2e/soak/main.ts');
process.exitCode = await main(process.argv.slice(2));
