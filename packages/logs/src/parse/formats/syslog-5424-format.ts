import { readContext } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { type Columns, columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { SPACE, startsWith } from './tokens/byte-scan.ts';
import { readIsoTime } from './tokens/iso-time.ts';
import { priorityRank } from './tokens/level-word.ts';
import { readPriority } from './tokens/syslog-priority.ts';

const HEADER = /^ (\S+) (\S+) (\S+) (\S+) ?/;
const ELEMENT = /\[([^\s\]="]+)((?: [^\s\]="]+="[^"\\]*(?:\\.[^"\\]*)*")*)\]/sy;
const PARAMETER = / ([^\s\]="]+)="([^"\\]*(?:\\.[^"\\]*)*)"/gs;

/** RFC 5424: `<165>1 2003-10-11T22:14:15.003Z host app procid msgid [id key="value"] message`. */
export function createSyslog5424Format({ zone }: FormatOptions): ShapedFormat {
  const priority = { value: 0, end: 0 };
  const time = { timeMs: 0, end: 0 };
  return defineFormat({
    name: 'syslog-5424',
    readStart(bytes, start, end, found) {
      if (!readPriority(bytes, start, end, priority) || !startsWith(bytes, priority.end, end, '1 ')) return false;
      const at = priority.end + 2;
      if (startsWith(bytes, at, end, '- ')) found.bodyAt = at + 1;
      else if (readIsoTime(bytes, at, end, zone, time) && time.end < end && bytes[time.end] === SPACE) {
        found.timeMs = time.timeMs;
        found.bodyAt = time.end;
      } else return false;
      found.rank = priorityRank(priority.value);
      return true;
    },
    readColumns: readHeader,
  });
}

function readHeader(body: string): Columns | undefined {
  const [whole, host, app, procId, msgId] = HEADER.exec(body) ?? [];
  if (whole === undefined) return undefined;
  const { elements, end } = readElements(body, whole.length);
  const message = body.slice(end).replace(/^ ?\ufeff?/, '');
  const tag = present(app);
  const known = Object.entries({ host: present(host), pid: present(procId), msgId: present(msgId) })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const members = [...known, ...elements];
  return {
    ...columns(message, { ...(tag && { tag }) }),
    ...(members.length > 0 && readContext(`{${members.join(',')}}`)),
  };
}

/**
 * The structured data as members of a JSON object, each element by its id, and where it ends. As text, because an
 * element may have several parameters with the same name.
 */
function readElements(body: string, start: number): { elements: string[]; end: number } {
  if (body[start] === '-') return { elements: [], end: start + 1 };
  const element = new RegExp(ELEMENT);
  element.lastIndex = start;
  const elements: string[] = [];
  let end = start;
  for (let match = element.exec(body); match; match = element.exec(body)) {
    const parameters = [...(match[2] ?? '').matchAll(PARAMETER)].map(([, key = '', value = '']) => {
      return `${JSON.stringify(key)}:${JSON.stringify(value.replace(/\\(["\\\]])/g, '$1'))}`;
    });
    elements.push(`${JSON.stringify(match[1] ?? '')}:{${parameters.join(',')}}`);
    end = element.lastIndex;
  }
  return { elements, end };
}

/** RFC 5424 writes `-` for an unknown value. */
function present(value: string | undefined): string | undefined {
  return value === '-' ? undefined : value;
}
