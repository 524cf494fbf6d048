import { build, install, ROOT } from './steps.mjs';

const args = process.argv.slice(2);

await install();
await build();
// In this process, so that signals reach the node itself: npm start -- --http-port 0
const { run } = await import(`${ROOT}packages/cli/lib/main.js`);
await run([process.argv[0], 'porthole', 'serve', ...(isUnconfigured() ? ['--demo'] : []), ...args]);

/** Whether nothing but ports is set: the node has only its own log to show, and the demo shows more. */
function isUnconfigured() {
  const names = Object.keys(process.env).filter((name) => name.startsWith('PORTHOLE_'));
  return (
    args.every((arg) => /^(--(http|grpc)-port(=\d+)?|\d+)$/.test(arg)) &&
    names.every((name) => /^PORTHOLE_(HTTP|GRPC)_PORT$/.test(name))
  );
}
