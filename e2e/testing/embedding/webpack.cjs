/* Bundles run.mjs with the webpack at the given path; prints what it has to say. */
const { join } = require('node:path');
const webpack = require(process.argv[2]);

const output = { path: join(__dirname, 'webpack'), filename: 'run.cjs' };
const options = { mode: 'production', target: 'node20', context: __dirname, entry: './run.mjs', output };
webpack({ ...options, optimization: { minimize: false } }, (error, stats) => {
  process.stdout.write(error ? `${error}\n` : stats.toString('errors-warnings'));
});
