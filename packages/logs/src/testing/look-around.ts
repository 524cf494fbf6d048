/*
 * Prints what a directory, and one file of it, look like to whoever runs this: an ordinary user, where the tests
 * themselves may run as one to whom nothing is forbidden.
 */
import { LogDir } from '../log-dir.ts';

const [, , dir = '', name = ''] = process.argv;
const logs = new LogDir(dir);
const told = (error: { code?: string; message: string }) => ({ code: error.code, message: error.message });
const looks = {
  list: await logs.list().catch(told),
  details: await logs.details().catch(told),
  tail: await logs.tail(name, 10).then(() => 'readable', told),
};
process.stdout.write(JSON.stringify(looks));
