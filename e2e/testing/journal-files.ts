import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { ensurePrograms } from '../../scripts/programs.mjs';

const PROGRAM = ensurePrograms(['journalctl', 'systemd-journal-remote']).get('systemd-journal-remote') ?? '';

/** 2026-11-15T10:00:00Z, in microseconds. */
const START_US = 1_794_736_800_000_000n;

export interface TestEntry {
  second: number;
  message: string | Buffer;
  priority?: number;
  identifier?: string;
  unit?: string;
}

/** A journal as journald writes it, made by the real `systemd-journal-remote`. */
export class JournalFiles {
  readonly dir: string;

  constructor() {
    this.dir = join(tempDir(), 'journal');
    mkdirSync(this.dir);
  }

  async append(...entries: TestEntry[]): Promise<void> {
    const child = spawn(PROGRAM, [`--output=${join(this.dir, 'system.journal')}`, '-'], {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, SYSTEMD_LOG_LEVEL: 'err' },
    });
    child.stdin.end(Buffer.concat(entries.map(toExport)));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`systemd-journal-remote failed with ${code}`);
  }
}

/** https://systemd.io/JOURNAL_EXPORT_FORMATS */
function toExport({ second, message, priority = 6, identifier = 'app', unit }: TestEntry): Buffer {
  const fields = [
    `__REALTIME_TIMESTAMP=${START_US + BigInt(Math.round(second * 1e6))}`,
    `__MONOTONIC_TIMESTAMP=${Math.round((second + 1) * 1e6)}`,
    '_BOOT_ID=0123456789abcdef0123456789abcdef',
    '_HOSTNAME=node-1',
    `PRIORITY=${priority}`,
    `SYSLOG_IDENTIFIER=${identifier}`,
    ...(unit === undefined ? [] : [`_SYSTEMD_UNIT=${unit}`]),
  ];
  const text = Buffer.from(message);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const head = Buffer.from(`${fields.join('\n')}\nMESSAGE\n`);
  return Buffer.concat([head, length, text, Buffer.from('\n\n')]);
}

/** Processes of `journalctl` that read this directory. */
export function countReaders(dir: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--directory=${dir}\0`);
    } catch (error) {
      // It has ended meanwhile.
      if (error instanceof Error && 'code' in error) return false;
      throw error;
    }
  }).length;
}
