import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as Sdk from '@porthole/client';
import type { ClusterFollowItem } from '@porthole/client';
import { RestartableNode } from '@porthole/client/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { createToken } from '@porthole/server/tokens';
import { beforeAll, expect, it } from 'vitest';
import { bundleClient, openPage, shareBrowser, startSite } from './testing/browser-page.ts';

/** What the page has beside the browser's own things; the functions below run there and see nothing else of this file. */
interface PageScope {
  sdk: typeof Sdk;
  followed: ClusterFollowItem[];
  leaving: AbortController;
  following: Promise<void>;
}
declare const self: PageScope;

const browser = shareBrowser();
let code: string;

beforeAll(async () => {
  code = await bundleClient();
});

function line(message: string, level = 'INFO'): string {
  const time = new Date().toISOString().replace('T', ' ').replace('Z', '');
  return `${time}\t${level}\tmain.go:1\t[Node] [Count]: ${message}\n`;
}

it('the bundle needs nothing that only Node.js has', () => {
  // A module of Node.js, which the bundler would not have found, is no matter here: only its globals could slip through.
  expect(code).not.toMatch(/\bBuffer\.|\bprocess\./);
});

it('a page of another origin asks a node', async () => {
  const origin = await startSite(code);
  const text = line('grüße') + line('boom', 'ERROR');
  const { running } = await startTestNode({
    files: { 'a.log': text },
    settings: { node: { timeZone: 'UTC', hostName: 'shown-in-a-browser' }, http: { corsOrigins: [origin] } },
  });
  const page = await openPage(browser(), origin);
  const answers = await page.evaluate(async (url) => {
    const node = self.sdk.createClient({ url });
    const { chunks, sizeBytes } = await node.viewLog({ file: 'a.log', sizeBytes: 1000 });
    let viewed = '';
    const decoder = new TextDecoder();
    for await (const chunk of chunks) viewed += decoder.decode(chunk, { stream: true });
    const found: string[] = [];
    const query = { minLevel: 'ERROR', order: 'newest', limit: 10, before: 0, after: 0 } as const;
    for await (const items of node.search(query))
      for (const item of items) found.push(item.type === 'record' ? item.message : item.reason);
    const log = await node.openLog({ file: 'a.log' });
    let part = '';
    for await (const chunk of log.read(0, 4)) part += decoder.decode(chunk);
    const error = await node.viewLog({ file: 'b.log', sizeBytes: 1 }).catch((thrown: unknown) => thrown);
    return {
      hostName: (await node.config()).node.hostName,
      list: await node.listLogs(),
      viewed,
      sizeBytes,
      found,
      part,
      modifiedMs: log.modifiedMs,
      error: error instanceof self.sdk.ClientError ? { code: error.code, status: error.status } : String(error),
    };
  }, running.url);
  const { modifiedMs } = await running.state.openLog({ file: 'a.log' });
  expect(answers).toEqual({
    hostName: 'shown-in-a-browser',
    list: [{ name: 'a.log', size: Buffer.byteLength(text) }],
    viewed: text,
    sizeBytes: Buffer.byteLength(text),
    found: ['boom', 'exhausted'],
    part: text.slice(0, 4),
    modifiedMs,
    error: { code: 'LOG_FILE_NOT_FOUND', status: 404 },
  });
});

it('a page follows through a restart of the node, and leaves', async () => {
  const origin = await startSite(code);
  const node = new RestartableNode({ 'a.log': line('first') }, { http: { corsOrigins: [origin] } });
  await node.start();
  const page = await openPage(browser(), origin);
  await page.evaluate((url) => {
    const client = self.sdk.createClient({ url });
    self.followed = [];
    self.leaving = new AbortController();
    self.following = (async () => {
      const batches = client.follow({ src: ['a.log'], start: { back: 1 } }, { signal: self.leaving.signal });
      for await (const items of batches) self.followed.push(...items);
    })();
  }, node.url);
  const received = async () => {
    const items = await page.evaluate(() => self.followed);
    return items.flatMap((item) => (item.type === 'record' ? [item.message] : []));
  };
  await eventually(async () => expect(await received()).toEqual(['first']));
  node.append('a.log', line('second') + line('third'));
  await eventually(async () => expect(await received()).toEqual(['first', 'second', 'third']));
  await node.stop();
  node.append('a.log', line('fourth'));
  await node.start();
  node.append('a.log', line('fifth'));
  await eventually(async () => expect(await received()).toEqual(['first', 'second', 'third', 'fourth', 'fifth']));
  const last = await page.evaluate(async () => {
    self.leaving.abort();
    await self.following;
    return { types: self.followed.map(({ type }) => type), end: self.followed.at(-1) };
  });
  expect(last.types).toContain('reconnecting');
  expect(last.end).toEqual({ type: 'end', reason: 'cancelled' });
});

it('a page without the token is refused, one with it is answered, and one that may not ask gets no answer', async () => {
  const origin = await startSite(code);
  const { line: tokenLine, token } = createToken('page');
  const tokenFile = join(tempDir(), 'tokens');
  writeFileSync(tokenFile, `${tokenLine}\n`, { mode: 0o600 });
  const { running } = await startTestNode({
    files: { 'a.log': line('one') },
    settings: { auth: { tokenFile }, http: { corsOrigins: [origin] } },
  });
  const codes = async (from: string) => {
    const page = await openPage(browser(), from);
    return page.evaluate(
      async ({ url, token }) => {
        const ask = (given?: string) =>
          self.sdk
            .createClient({ url, retries: 0, ...(given !== undefined && { token: given }) })
            .listLogs()
            .then(
              (list) => list.map(({ name }) => name).join(),
              (error: unknown) => self.sdk.codeOf(error),
            );
        return [await ask(), await ask('wrong'), await ask(token)];
      },
      { url: running.url, token },
    );
  };
  expect(await codes(origin)).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED', 'a.log']);
  expect(await codes(await startSite(code))).toEqual(['UNREACHABLE', 'UNREACHABLE', 'UNREACHABLE']);
});

it('aborting gives the reason, and the node is not asked on', async () => {
  const origin = await startSite(code);
  const { running } = await startTestNode({
    files: { 'a.log': line('x'.repeat(1000)).repeat(20_000) },
    settings: { http: { corsOrigins: [origin] } },
  });
  const page = await openPage(browser(), origin);
  const name = await page.evaluate(async (url) => {
    const leaving = new AbortController();
    const { chunks } = await self.sdk
      .createClient({ url })
      .viewLog({ file: 'a.log', sizeBytes: 1e9 }, { signal: leaving.signal });
    try {
      for await (const _ of chunks) leaving.abort();
    } catch (error) {
      return error instanceof Error ? error.name : String(error);
    }
    return 'not aborted';
  }, running.url);
  expect(name).toBe('AbortError');
  await eventually(async () => {
    const metrics = await (await fetch(new URL('metrics', running.url))).text();
    expect(/^porthole_open_streams .*$/m.exec(metrics)?.[0]).toBe('porthole_open_streams 0');
  });
});
