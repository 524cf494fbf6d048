import { appendFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import type { Case, Verdict } from './core-cases.ts';
import { makeLines, type NodeUnderTest, quote, type TestFiles, WHOLE } from './node-under-test.ts';

/** Far more than the buffers between two processes hold, so that a view is still being read while its file changes. */
const LARGE_LINES = 400_000;

/** Names that are legal but need care in a URL, or look like something else. */
const ODD_LABELS = [
  'with space.log',
  'a+b&c=d.log',
  '100%41.log',
  'q?x#y.log',
  'ünï-日本.log',
  'it\'s "so".log',
  '-rf.log',
  'a;b.log',
  '..log',
];

/** What happens to log files; needs a directory to make it happen. */
export const ROBUST_CASES: readonly Case[] = [
  { id: 'growth', title: 'a file that grows during a view', check: (node) => checkDuring(node, 'growth') },
  {
    id: 'rotation',
    title: 'a file that is renamed and replaced during a view',
    check: (node) => checkDuring(node, 'rotation'),
  },
  { id: 'removal', title: 'a file that is removed during a view', check: (node) => checkDuring(node, 'removal') },
  {
    id: 'truncation',
    title: 'a file that is truncated during a view: no short view without an error',
    check: (node) => checkDuring(node, 'truncation'),
  },
  { id: 'odd-names', title: 'files with odd names are listed and viewed', check: checkNames },
  {
    id: 'not-files',
    title: 'directories and broken links do not spoil the list, and are not viewed',
    check: checkNotFiles,
  },
  { id: 'empty-file', title: 'an empty file is an empty view', check: checkEmptyFile },
  { id: 'fresh', title: 'a view shows what was just written', check: checkFresh },
];

type Change = 'growth' | 'rotation' | 'removal' | 'truncation';

async function checkDuring(node: NodeUnderTest, change: Change): Promise<Verdict> {
  const files = filesOf(node);
  const label = `${change}.log`;
  const text = makeLines(LARGE_LINES, change);
  const added = makeLines(1000, 'added');
  if (!(await node.show(files, label, text))) return { problem: `${quote(files.name(label))} is not listed` };
  const path = files.path(label);
  const changes: Record<Change, () => Promise<void>> = {
    growth: () => appendFile(path, added),
    rotation: async () => {
      await rename(path, files.path(`${change}-1.log`));
      await writeFile(path, added);
    },
    removal: () => rm(path),
    truncation: () => truncate(path, 0),
  };
  const { status, body, failure } = await node.view(files.name(label), WHOLE, { during: changes[change] });
  // They are large.
  await files.clear();
  if (status !== 200) return { problem: `status ${status}` };
  const seen = body.toString('latin1');
  const firstLineBytes = text.indexOf('\n') + 1;
  const isWhole = (all: string) => all.endsWith(seen) && seen.length >= text.length - firstLineBytes;
  if (failure !== undefined)
    return change === 'truncation' && text.includes(seen)
      ? {}
      : { problem: `cut after ${body.length} bytes: ${failure}` };
  if (isWhole(text)) return {};
  // What was added may be seen wholly, in part or not at all.
  if (change === 'growth' && seen.length > text.length - firstLineBytes && (text + added).includes(seen)) return {};
  return { problem: `${body.length} of ${text.length} bytes came, as if that were all` };
}

async function checkNames(node: NodeUnderTest): Promise<Verdict> {
  const files = filesOf(node);
  for (const label of ODD_LABELS) {
    const name = files.name(label);
    const text = makeLines(3, 'name');
    if (!(await node.show(files, label, text))) return { problem: `${quote(name)} is not listed` };
    const { status, body } = await node.view(name, WHOLE);
    if (status !== 200 || body.length === 0 || !text.endsWith(body.toString('utf8')))
      return { problem: `${quote(name)}: status ${status}, ${body.length} bytes` };
  }
  return {};
}

async function checkNotFiles(node: NodeUnderTest): Promise<Verdict> {
  const files = filesOf(node);
  const names = [await files.makeDirectory('directory.log'), await files.link('broken.log', 'no-such-target')];
  if (!(await node.show(files, 'beside.log', 'one\n'))) return { problem: 'the file beside them is not listed' };
  for (const name of names) {
    const { status } = await node.view(name, 100);
    if (status < 400) return { problem: `${quote(name)}: status ${status}` };
  }
  return {};
}

async function checkEmptyFile(node: NodeUnderTest): Promise<Verdict> {
  const files = filesOf(node);
  if (!(await node.show(files, 'empty.log', ''))) return { problem: 'it is not listed' };
  const { status, body } = await node.view(files.name('empty.log'), 4096);
  return status === 200 && body.length === 0 ? {} : { problem: `status ${status}, ${body.length} bytes` };
}

async function checkFresh(node: NodeUnderTest): Promise<Verdict> {
  const files = filesOf(node);
  const text = makeLines(10, 'fresh');
  if (!(await node.show(files, 'fresh.log', text))) return { problem: 'it is not listed' };
  for (let index = 0; index < 3; index++) {
    const line = `2026-01-01 00:00:01.000\tINFO\tconform/fresh.go:2\t[Conform]: added ${index}\n`;
    await appendFile(files.path('fresh.log'), line);
    const { body } = await node.view(files.name('fresh.log'), WHOLE);
    if (!body.toString('utf8').endsWith(line)) return { problem: `a line added is not in the view that follows` };
  }
  return {};
}

function filesOf({ files }: NodeUnderTest): TestFiles {
  if (!files) throw new Error('needs a directory');
  return files;
}
