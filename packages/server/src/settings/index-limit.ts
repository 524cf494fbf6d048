import { defineKind, size } from './setting-kinds.ts';

const SHARE = /^(\d{1,2}(?:\.\d{1,2})?|100)%$/;

const bytes = size('0B', '16TiB');

/** A size, or a share of the size of the logs: `"2%"`. Kept as text; see `readIndexLimit`. */
export const indexLimit = defineKind<string, string | number | bigint>({
  name: 'size or share',
  noun: 'a size like "4GiB" or a share of the logs like "2%"',
  accepted: '0 to 100%, or 0B to 16TiB',
  limits: '0B to 16TiB, or 0% to 100%',
  hasType: (value, form): value is string | number | bigint =>
    typeof value === 'string' || (form === 'option' && typeof value === 'number') || typeof value === 'bigint',
  parse: (value) => {
    const text = String(value);
    return SHARE.test(text) || readBytes(text) !== undefined ? text : undefined;
  },
});

/** The limit in bytes, of logs of this size. */
export function readIndexLimit(limit: string): (logBytes: number) => number {
  const share = SHARE.exec(limit)?.[1];
  if (share !== undefined) return (logBytes) => Math.floor((logBytes * Number(share)) / 100);
  const most = readBytes(limit) ?? 0;
  return () => most;
}

function readBytes(text: string): number | undefined {
  const reading = bytes.read(text, { form: 'text', baseDir: '' });
  return 'value' in reading ? reading.value : undefined;
}
