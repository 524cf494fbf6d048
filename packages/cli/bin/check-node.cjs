// Says in one sentence what an old Node.js would say with a syntax error. It runs before anything else, also of `npm start`
// and `npm test`, in any version: Node.js 12 has to understand every line.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`porthole needs Node 20.19 or newer, this is ${process.versions.node}`);
  process.exit(2);
}
