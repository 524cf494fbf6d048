import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@porthole/client';
import { httpCluster } from '@porthole/client/testing';
import { recordLine } from '@porthole/console/testing';
import { contextJson, exactJson, indentJson, searchItems } from '@porthole/contract';
import { createZone } from '@porthole/logs';
import { jsonTokens, randomJsonObject } from '@porthole/logs/testing';
import type { FoundRecord } from '@porthole/logs/types';
import { runs } from '@porthole/records/testing';
import { connectNode, mergedLog, sendRequest, startTestNode } from '@porthole/server/testing';
import fc from 'fast-check';
import { type Colors, formatRecord, type RecordStyle } from 'porthole/testing';
import { describe, expect, it } from 'vitest';

const COUNT = runs(100);
const ALL = { order: 'oldest', limit: COUNT, before: 0, after: 0 } as const;
const NUMBER = 12345678901234567890n;

/** The contexts of a log, the same for every run. */
const contexts = () => fc.sample(randomJsonObject, { seed: 5, numRuns: COUNT });

const contractLine = (text: string, at: number) =>
  `2026-11-15 00:00:00.${String(at % 1000).padStart(3, '0')}\tINFO\ta.go:1\t[x]: line ${at}\t${text}\n`;

const NO_COLORS = new Proxy({}, { get: (_, name) => (name === 'isColorSupported' ? false : String) }) as Colors;

const style = (format: RecordStyle['format']): RecordStyle => ({
  format,
  colors: NO_COLORS,
  zone: createZone('UTC'),
  isTty: false,
  prefix: false,
  marks: undefined,
});

/** The text of `"context":{...}` in a line of JSON, as bytes on the wire have it. */
function wireContext(line: string): string {
  const start = line.indexOf('"context":{');
  expect(start).toBeGreaterThan(0);
  let depth = 0;
  for (const { 0: token, index } of line.slice(start + 10).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth++;
    if (token === '}' && --depth === 0) return line.slice(start + 10, start + 10 + index + 1);
  }
  throw new Error(`no end: ${line}`);
}

const wireLines = (body: Buffer) =>
  body
    .toString()
    .split('\n')
    .filter((line) => line.includes('"type":"record"'));

describe('every number, key and text of a context', () => {
  it('comes as the log has it through every interface', async () => {
    const texts = contexts();
    const expected = texts.map(jsonTokens);
    const node = await startTestNode({ files: { 'a.log': texts.map(contractLine).join('') } });
    const client = createClient({ url: `http://127.0.0.1:${node.port}` });
    const same = (received: readonly string[]) => expect(received.map(jsonTokens)).toEqual(expected);

    for (const nodes of ['', '&nodes=*']) {
      const query = `order=oldest&limit=${COUNT}&src=a.log${nodes}`;
      same(wireLines((await sendRequest(node.port, `/api/v1/log/search?${query}`)).body).map(wireContext));
      const around = wireLines((await sendRequest(node.port, `/api/v1/log/search?${query}&before=1&after=1`)).body);
      same(around.map(wireContext));
    }

    const records: FoundRecord[] = [];
    for await (const items of client.search({ ...ALL, before: 1 }))
      for (const item of items) if (item.type === 'record') records.push(item);
    const jsons = (those: readonly FoundRecord[]) => those.map((record) => contextJson(record) ?? '');
    same(jsons(records));
    same(jsons(records.map((record, at) => records[at + 1]?.before?.[0] ?? record)));

    const member: FoundRecord[] = [];
    for await (const items of client.search({ nodes: ['*'], ...ALL }))
      for (const item of items) if (item.type === 'record') member.push(item);
    same(jsons(member));

    const grpc = connectNode(node.running.node.grpcPort);
    const over: FoundRecord[] = [];
    for await (const items of searchItems(grpc, ALL))
      for (const item of items) if (item.type === 'record') over.push(item);
    same(jsons(over));

    same(records.map((record) => wireContext(formatRecord(record, style('json')))));
    same(
      records.map((record, at) => formatRecord(record, style('pretty')).split(`line ${at} `)[1]?.slice(0, -7) ?? ''),
    );
    same(records.map((record) => recordLine({ ...record, node: 'n' }, { withNode: true }).split(/line \d+ /)[1] ?? ''));
    same(jsons(records).map(indentJson));

    let merged = '';
    const range = { fromMs: 0, toMs: Date.UTC(2027, 0) };
    const options = { range, selection: {}, pageRecords: 100, budgetMs: 5000, signal: new AbortController().signal };
    for await (const piece of mergedLog(httpCluster(client), { ...options, report: () => {} }))
      merged += Buffer.from(piece);
    same(
      merged
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t').at(-1) ?? ''),
    );
  });

  it('comes as the log has it through follow and digest', async () => {
    const texts = contexts();
    const node = await startTestNode({ files: { 'a.log': '' } });
    const client = createClient({ url: `http://127.0.0.1:${node.port}` });
    const leaving = new AbortController();
    const emitted: string[] = [];
    for await (const items of client.follow({ start: 'end' }, { signal: leaving.signal })) {
      if (items.length === 0 && emitted.length === 0)
        appendFileSync(join(node.logDir, 'a.log'), texts.map(contractLine).join(''));
      for (const item of items) if (item.type === 'record') emitted.push(exactJson(item));
      if (emitted.length === texts.length) leaving.abort();
    }
    expect(emitted.map(wireContext).map(jsonTokens)).toEqual(texts.map(jsonTokens));

    writeFileSync(join(node.logDir, 'a.log'), contractLine(`{"id":${NUMBER},"n":1.0}`, 0));
    for (const nodes of ['', '&nodes=*']) {
      const { body } = await sendRequest(node.port, `/api/v1/log/digest?limit=5${nodes}`);
      expect(body.toString()).toContain(`"context":{"id":${NUMBER},"n":1.0}`);
    }
    const { groups } = await client.digest({ limit: 5 });
    expect(groups[0]?.sample.contextText).toBe(`{"id":${NUMBER},"n":1.0}`);
  });

  it('is a pair of logfmt as the log has it', () => {
    const contextText = `{"id":${NUMBER},"n":1.0,"n":"a b","o":{"x":1e400}}`;
    const record: FoundRecord = {
      type: 'record',
      file: 'a',
      offset: 0,
      bytes: 1,
      cursor: 'c',
      message: 'm',
      context: {},
      contextText,
    };
    expect(formatRecord(record, style('logfmt'))).toBe(`file=a msg=m id=${NUMBER} n=1.0 n="a b" o="{\\"x\\":1e400}"\n`);
  });

  it('cannot break the JSON it is put into', () => {
    const hostile = ['', 'x', '{', '{}\n{}', '{"a":1},"b":2', '[1]', '{"a":1}\n'];
    for (const contextText of hostile) {
      const text = exactJson({ type: 'record', context: { a: 1 }, contextText });
      expect(JSON.parse(text)).toEqual({ type: 'record', context: { a: 1 }, contextText });
      expect(text).not.toContain('\n');
    }
    const inner = { type: 'record', context: { b: 2 }, contextText: '{"b":2.0}' };
    expect(exactJson({ type: 'record', context: { inner } })).toBe(
      JSON.stringify({ type: 'record', context: { inner } }),
    );
  });
});
