/*
 * Writes numbered lines to one log per kind of rotation until its input ends and the log that it deletes itself was
 * rotated often enough; then prints what it wrote. Its input says how far all followers have read.
 */
import { closeSync, existsSync, fstatSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../log-error.ts';
import { newestNumber } from './torture-progress.ts';

/** Lines a second, in each log. */
const RATE = 2000;

/** Lines written beyond what every follower has read: a busy machine slows down the writer as much as its readers. */
const AHEAD_LINES = 2000;

const TICK_MS = 5;

const [, , dir = '', rotations = '1000', deleteEvery = '85'] = process.argv;

class Log {
  readonly path: string;
  number = 0;
  fd: number;

  constructor(path: string) {
    this.path = path;
    this.fd = openSync(path, 'a');
  }

  write(upTo: number): void {
    let text = '';
    while (this.number < upTo) {
      this.number++;
      const time = new Date().toISOString().replace('T', ' ').replace('Z', '');
      text += `${time}\tINFO\tbroker/runtime.go:172\t[x]: #${this.number}# of many\n`;
    }
    if (text) writeSync(this.fd, text);
  }

  /** Like a program that is signalled to reopen its log a moment too late. */
  reopenIfMoved(): void {
    try {
      if (statSync(this.path).ino === fstatSync(this.fd).ino) return;
    } catch (error) {
      // Renamed, and there is no new file yet.
      if (systemCode(error) !== 'ENOENT') throw error;
    }
    closeSync(this.fd);
    this.fd = openSync(this.path, 'a');
  }

  recreate(): void {
    closeSync(this.fd);
    unlinkSync(this.path);
    this.fd = openSync(this.path, 'a');
  }
}

const logs = Object.fromEntries(
  ['rename', 'gzip', 'copy', 'delete'].map((kind) => [kind, new Log(join(dir, kind, 'app.log'))]),
);
const ends: number[] = [];
let tickedMs = performance.now();
let deletedMs = tickedMs;
let due = 0;
let seen = 0;
let isEnding = false;

const timer = setInterval(() => {
  const nowMs = performance.now();
  due = Math.min(due + ((nowMs - tickedMs) / 1000) * RATE, seen + AHEAD_LINES);
  tickedMs = nowMs;
  for (const log of Object.values(logs)) log.write(Math.floor(due));
  logs.rename?.reopenIfMoved();
  logs.gzip?.reopenIfMoved();
  // A busy machine delays this process more than the one that rotates the other logs.
  if (isEnding && ends.length >= Number(rotations)) return end();
  if (nowMs - deletedMs < Number(deleteEvery) || !existsSync(join(dir, 'started'))) return;
  deletedMs = nowMs;
  ends.push(logs.delete?.number ?? 0);
  logs.delete?.recreate();
}, TICK_MS);

process.stdin.on('data', (chunk) => {
  seen = newestNumber(chunk) ?? seen;
});
process.stdin.on('end', () => {
  isEnding = true;
});

function end(): void {
  clearInterval(timer);
  // The last line is not rotated away: followers must reach it.
  for (const log of Object.values(logs)) {
    if (log !== logs.copy && log !== logs.delete) log.reopenIfMoved();
    log.write(log.number + 1);
  }
  process.stdout.write(JSON.stringify({ last: logs.rename?.number ?? 0, ends }));
}
