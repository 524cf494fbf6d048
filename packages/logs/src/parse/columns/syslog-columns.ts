import { readContext } from '../exact-context.ts';
import { type Columns, columns } from '../formats/define-format.ts';

/** What is in the host's position in lines that only look like syslog. */
const LEVEL_WORD = /^\W?(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\W?$/i;

/** Sent over UDP, a line may have no host: ` haproxy[12]: message`. */
const BODY_WITHOUT_HOST = /^ ([^\s:[\]]+)\[(\d+)\]: ?(.*)$/s;

const BODY = /^ ([^\s:]\S*[^\s:]|[^\s:]) ([^\s:[\]]+)(?:\[([^\]\s]*)\])?: ?(.*)$/s;

/** RFC 3164: `<34>Oct 11 22:14:15 host app[123]: message`, as written to files without `<34>`, or with rsyslog's ISO time. */
export function readSyslogColumns(body: string, lead: string): Columns | undefined {
  if (!/^(?:<\d+>)?[\dA-Z]/.test(lead)) return undefined;
  // Other programs write a space between date and time.
  if (/\d[ /]\d/.test(lead) && /^(?:<\d+>)?\d/.test(lead)) return undefined;
  const [, soleTag, solePid, soleMessage] = BODY_WITHOUT_HOST.exec(body) ?? [];
  if (soleTag) return columns(soleMessage ?? '', { tag: soleTag, context: { pid: solePid } });
  const [, host, tag, pid, message] = BODY.exec(body) ?? [];
  if (!host || !tag || LEVEL_WORD.test(host)) return undefined;
  return columns(message ?? '', { tag, context: { host, pid } });
}

const HEADER = /^ (\S+) (\S+) (\S+) (\S+) ?/;
const ELEMENT = /\[([^\s\]="]+)((?: [^\s\]="]+="[^"\\]*(?:\\.[^"\\]*)*")*)\]/sy;
const PARAMETER = / ([^\s\]="]+)="([^"\\]*(?:\\.[^"\\]*)*)"/gs;

/** RFC 5424: `<165>1 2003-10-11T22:14:15.003Z host app procid msgid [id key="value"] message`. */
export function readSyslog5424Columns(body: string, lead: string): Columns | undefined {
  if (!/^<\d+>1 /.test(lead)) return undefined;
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
