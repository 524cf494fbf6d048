import { build, install, ROOT } from './steps.mjs';

await install();
await build();
// In this process, so that signals reach the node itself: npm start -- --http-port 0
const { run } = await import(`${ROOT}packages/cli/lib/main.js`);
await run([process.argv[0], 'porthole', 'serve', ...process.argv.slice(2)]);
