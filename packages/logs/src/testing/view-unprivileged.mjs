/* Prints what a directory, and one file of it, look like. By the built package, which loads quickly. */
import { LogDir } from '../../dist/log-dir.js';

const [, , dir = '', name = ''] = process.argv;
const logs = new LogDir(dir);
const toFailure = (error) => ({ code: error.code, message: error.message });
const views = {
  list: await logs.list().catch(toFailure),
  details: await logs.details().catch(toFailure),
  tail: await logs.tail(name, 10).then(() => 'readable', toFailure),
};
process.stdout.write(JSON.stringify(views));
