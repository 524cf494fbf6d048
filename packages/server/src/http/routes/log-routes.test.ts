import type { ClusterLogFiles } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestJson } from '../../testing/send-request.ts';
import { shareTestNode } from '../../testing/test-node.ts';
import { parseByteRange } from './log-routes.ts';

describe('the details of one file', () => {
  const node = shareTestNode({
    files: { 'app.log': '2026-11-17 18:33:04,123 [WARN] slow\n2026-11-17 18:33:05,123 [INFO] ok\n', 'b.log': 'text\n' },
  });

  it.each(['', 'nodes=ID&'])('has what it is read as (%s)', async (selection) => {
    const { node: own } = await requestJson<{ node: { hostIp: string } }>(node.port, '/api/v1/node');
    const { nodes } = await requestJson<{ nodes: { id: string }[] }>(node.port, '/api/v1/nodes');
    const id = nodes[0]?.id ?? own.hostIp;
    const { files } = await requestJson<ClusterLogFiles>(
      node.port,
      `/api/v1/log/files?${selection.replace('ID', id)}src==app.log`,
    );
    expect(files).toMatchObject([{ name: 'app.log', format: 'iso', problem: null }]);
    expect(files[0]?.learned?.facts).toContainEqual({
      label: 'Level',
      text: 'WARN · after the time, between [ and ] · in 2 of 2 records',
    });
    expect(files[0]?.learned?.samples[0]).toEqual([
      { kind: 'time', text: '2026-11-17 18:33:04,123' },
      { kind: 'other', text: ' [' },
      { kind: 'level', text: 'WARN' },
      { kind: 'other', text: '] ' },
      { kind: 'message', text: 'slow' },
    ]);
  });

  it('is only there if asked for, and of a file that exists', async () => {
    const { files } = await requestJson<ClusterLogFiles>(node.port, '/api/v1/log/files');
    expect(files.map((file) => [file.name, 'learned' in file])).toEqual([
      ['app.log', false],
      ['b.log', false],
    ]);
    const missing = await requestJson(node.port, '/api/v1/log/files?src==ap.log');
    expect(missing).toMatchObject({ status: 404, code: 'LOG_FILE_NOT_FOUND' });
    const outside = await requestJson(node.port, '/api/v1/log/files?src==../x');
    expect(outside).toMatchObject({ status: 400, code: 'FILE_NAME_INVALID' });
  });
});

describe('a Range header', () => {
  it('picks the bytes that picking one by one gives', () => {
    const position = fc.option(fc.nat(24), { nil: undefined });
    fc.assert(
      fc.property(position, position, fc.nat(20), (first, last, size) => {
        const picked = pickSlowly(first, last, size);
        expect(parseByteRange(`bytes=${first ?? ''}-${last ?? ''}`, size)).toEqual(picked);
      }),
      { numRuns: runs(2500) },
    );
  });

  it('of any text gives a range within the file, or none', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^bytes=[-0-9, a]{0,12}$/));
    fc.assert(
      fc.property(text, fc.nat(1000), (header, size) => {
        const range = parseByteRange(header, size);
        if (typeof range !== 'object') return true;
        return Number.isInteger(range.start) && range.start >= 0 && range.start < range.end && range.end <= size;
      }),
      { numRuns: runs(2500) },
    );
  });
});

/** Every offset of the file asked whether it is meant. */
function pickSlowly(first: number | undefined, last: number | undefined, size: number) {
  if (first === undefined && last === undefined) return undefined;
  if (first !== undefined && last !== undefined && last < first) return undefined;
  const offsets = Array.from({ length: size }, (_, offset) => offset).filter((offset) =>
    first === undefined ? offset >= size - (last ?? 0) : offset >= first && (last === undefined || offset <= last),
  );
  const [start] = offsets;
  return start === undefined ? 'unsatisfiable' : { start, end: start + offsets.length };
}
