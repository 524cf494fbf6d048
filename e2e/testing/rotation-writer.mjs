/*
 * Writes numbered lines into several logs until its input ends, then one more into each, and says how many that were.
 * Opens its logs again at SIGHUP, as services do; some of them late.
 */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} WrittenLog
 * @property {string} name
 * @property {boolean} appends Without it, the writer stays where it was in the file, even if that was truncated.
 * @property {number} lateMs How long it writes on into the old file after SIGHUP.
 */

const TICK_MS = 10;

/** Every so many lines one comes that belongs to the record before it. */
const CONTINUED_EVERY = 7;

const [, , dir = '', rate = '200', specs = '[]'] = process.argv;

class Log {
  number = 0;
  #fd;

  /** @param {WrittenLog} spec */
  constructor(spec) {
    this.spec = spec;
    this.#fd = this.#open();
  }

  write(upTo) {
    let text = '';
    const time = new Date().toISOString().slice(0, 23).replace('T', ' ');
    while (this.number < upTo) {
      this.number++;
      const isContinued = this.number % CONTINUED_EVERY === 0;
      text += isContinued
        ? `\tat frame #${this.number}#\n`
        : `${time}\tINFO\tmain.go:1\t[Test]: line #${this.number}#\n`;
    }
    if (text !== '') writeSync(this.#fd, text);
  }

  reopen() {
    closeSync(this.#fd);
    this.#fd = this.#open();
  }

  #open() {
    return openSync(join(dir, this.spec.name), this.spec.appends ? 'a' : 'r+');
  }
}

const logs = JSON.parse(specs).map((spec) => new Log(spec));
const startedMs = performance.now();
const timer = setInterval(() => {
  const upTo = Math.floor(((performance.now() - startedMs) / 1000) * Number(rate));
  for (const log of logs) log.write(upTo);
}, TICK_MS);

process.on('SIGHUP', () => {
  // Whoever sent it waits for this: a file that is compressed while it is written to loses lines.
  const done = () => writeFileSync(join(dir, 'old', 'reopened'), '');
  setImmediate(done);
  for (const log of logs) {
    if (log.spec.lateMs > 0) setTimeout(() => log.reopen(), log.spec.lateMs);
    else if (log.spec.appends) log.reopen();
  }
});
process.stdin.resume();
process.stdin.on('end', () => {
  clearInterval(timer);
  // One without O_APPEND would begin to overwrite its file.
  for (const log of logs) if (log.spec.appends) log.reopen();
  // Not a continuation: what belongs to a record is held back for a moment, and may be shown with it.
  for (const log of logs) log.write(log.number + ((log.number + 1) % CONTINUED_EVERY === 0 ? 2 : 1));
  process.stdout.write(JSON.stringify(Object.fromEntries(logs.map(({ spec, number }) => [spec.name, number]))));
});
process.stdout.write('writing\n');
