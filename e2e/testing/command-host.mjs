/* Runs the command lines it is sent, one after the other, and sends back what each wrote. */
import { captureLine } from './run-line.mjs';

const exit = process.exit;

process.on('message', async (line) => {
  process.send(await captureLine(line));
});
process.on('disconnect', () => exit());
process.send('ready');
