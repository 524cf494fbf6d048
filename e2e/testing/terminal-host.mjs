/* Runs the command lines of a file, one after the other, on the terminal of this process, and writes a mark behind each. */
import { readFileSync, writeSync } from 'node:fs';
import { runLine } from './run-line.mjs';

const [, , file, mark] = process.argv;

for (const args of JSON.parse(readFileSync(file, 'utf8'))) {
  await runLine(args);
  writeSync(1, mark);
}
process.exit();
