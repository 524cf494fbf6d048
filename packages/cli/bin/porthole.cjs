#!/usr/bin/env node
require('./check-node.cjs');
const { existsSync, writeSync } = require('node:fs');
const { join } = require('node:path');

// The most frequent question of scripts is answered here, in CommonJS: loading modules takes longer than all of it.
const isVersion = process.argv.length === 3 && ['version', '--version', '-V'].includes(process.argv[2]);

if (isVersion) {
  const { version } = require('../package.json');
  try {
    writeSync(1, `porthole ${version} (node ${process.versions.node})\n`);
  } catch (error) {
    if (error.code !== 'EPIPE') {
      console.error(`porthole: cannot write the output: ${error.message}`);
      process.exitCode = 2;
    }
  }
} else if (existsSync(join(__dirname, '../lib/main.js'))) {
  void import('../lib/main.js').then(({ run }) => run(process.argv));
} else {
  console.error('porthole is not built yet: run "npm run build" in the checkout (npm start and npm test do it too)');
  process.exitCode = 2;
}
