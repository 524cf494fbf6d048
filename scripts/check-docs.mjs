import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { sourceFiles } from './source-files.mjs';
import { ROOT } from './steps.mjs';

/* Checks every Markdown page: line width, headings, blank lines, relative links, and that no conflict of a merge is left. */

const MAX_COLUMNS = 120;

/** Generated from the code or from a run; their lines are as long as their data. */
const GENERATED = /^(bench\/results\/|docs\/cli\.md$)/;

const problems = listPages().flatMap((page) => checkPage(page));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function listPages() {
  return sourceFiles().filter((path) => path.endsWith('.md') && !path.includes('/fixtures/'));
}

function checkPage(page) {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
  const text = withoutCode(lines);
  const found = [
    ...checkMerged(lines),
    ...checkHeadings(text, page),
    ...checkBlankLines(lines),
    ...checkLinks(text, page),
  ];
  if (!GENERATED.test(page)) found.push(...checkWidth(text));
  return found.map(({ line, problem }) => `${page}:${line + 1}: ${problem}`);
}

function checkMerged(lines) {
  return lines.flatMap((line, index) => (/^(?:<{7}|>{7}) /.test(line) ? [{ line: index, problem: 'a conflict' }] : []));
}

/** The lines with those of code blocks emptied, so that line numbers stay the same. */
function withoutCode(lines) {
  let fence;
  return lines.map((line) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence === undefined && mark === undefined) return line;
    if (fence === undefined) fence = mark;
    else if (mark === fence) fence = undefined;
    return '';
  });
}

function checkWidth(lines) {
  return lines.flatMap((line, index) => {
    const canBeWrapped = !/^\s*\||^#|^ {4}|^<!--|!?\[[^\]]*\]\(\S{60,}\)/.test(line);
    if (line.length <= MAX_COLUMNS || !canBeWrapped) return [];
    return [{ line: index, problem: `${line.length} columns; wrap prose at ${MAX_COLUMNS}` }];
  });
}

function checkHeadings(lines, page) {
  const found = [];
  const isTemplate = page.startsWith('.github/');
  let last = isTemplate ? 1 : 0;
  for (const [index, line] of lines.entries()) {
    const level = /^(#+) \S/.exec(line)?.[1].length;
    if (level === undefined) continue;
    if (level === 1 && last > 0) found.push({ line: index, problem: 'a page has one title' });
    if (level > last + 1) found.push({ line: index, problem: `heading level ${level} after level ${last}` });
    last = level;
  }
  return found;
}

function checkBlankLines(lines) {
  return lines.flatMap((line, index) => {
    if (/[ \t]$/.test(line)) return [{ line: index, problem: 'blanks at the end of the line' }];
    if (line === '' && lines[index + 1] === '' && index + 2 < lines.length)
      return [{ line: index, problem: 'two blank lines' }];
    return [];
  });
}

function checkLinks(lines, page) {
  return lines.flatMap((line, index) =>
    [...line.matchAll(/\]\((?![a-z]+:)([^)\s]*)\)/g)].flatMap(([, link]) => {
      const problem = checkLink(link, page);
      return problem === undefined ? [] : [{ line: index, problem }];
    }),
  );
}

function checkLink(link, page) {
  const [path, anchor] = link.split('#');
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(target)) return `${link} leads nowhere (${relative(ROOT, target)} does not exist)`;
  if (anchor === undefined || !target.endsWith('.md') || statSync(target).isDirectory()) return undefined;
  const anchors = withoutCode(readFileSync(target, 'utf8').split('\n')).flatMap(toAnchor);
  return anchors.includes(anchor) ? undefined : `${link}: no such heading`;
}

/** The anchor of a heading, as GitHub makes it. */
function toAnchor(line) {
  const title = /^#+ (.*)$/.exec(line)?.[1];
  if (title === undefined) return [];
  return [
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  ];
}
