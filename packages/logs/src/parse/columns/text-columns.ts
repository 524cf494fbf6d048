import { decodeRecord } from '../decode-record.ts';
import { exactNumber, readContext } from '../exact-context.ts';
import { type Columns, columns } from '../formats/define-format.ts';
import { LEVEL_KEYS, MESSAGE_KEYS, SOURCE_KEYS, TAG_KEYS, TIME_KEYS } from '../formats/lines/known-keys.ts';
import { readLevelToken, readTimeToken, unquote } from '../formats/tokens/value-tokens.ts';
import { findLevelWord } from '../level.ts';
import type { Zone } from '../zone.ts';

const LEVEL = '(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)';

/**
 * Brackets within a thread's name are balanced in practice; one level is enough. Padding is trimmed later: a pattern in
 * which a space could belong to either of two groups takes quadratic time on a long line of spaces.
 */
const BRACKETED = '\\[([^\\[\\]]*(?:\\[[^\\[\\]]*\\][^\\[\\]]*)*)\\]';

interface Layout {
  lead?: RegExp;
  body: RegExp;
  read(parts: (string | undefined)[]): Columns;
}

const layout = (source: string) => new RegExp(source, 's');

/** Layouts are distinguished by what follows the time. The first match wins. */
const LAYOUTS: Layout[] = [
  {
    // Spring Boot: ` INFO 1234 --- [app] [  main] [trace-span] c.e.App  : message`; only the thread is always there
    body: layout(`^ +${LEVEL} +(\\d+) --- (?:${BRACKETED} )?${BRACKETED} (?:\\[([\\w -]*)\\] )?(\\S+) *: (.*)$`),
    read: ([pid, application, thread, correlation, tag = '', message = '']) =>
      columns(message, {
        tag,
        context: {
          pid: exactNumber(pid ?? ''),
          application,
          thread: thread?.trim(),
          correlation: correlation?.trim() || undefined,
        },
      }),
  },
  {
    // ZooKeeper: ` [myid:1] - INFO  [main:QuorumPeerConfig@136] - message`. The source stays as written: searches look
    // for it in the text.
    body: layout(`^ \\[myid:(\\d*)\\] - ${LEVEL} +\\[(.*?):([\\w.$]+@\\d+)\\] - (.*)$`),
    read: ([myid, thread, source = '', message = '']) =>
      columns(message, { source, tag: source.replace(/@\d+$/, ''), context: { myid, thread } }),
  },
  {
    // logback: ` [main] INFO  c.e.App - message`
    body: layout(`^ ${BRACKETED} +${LEVEL} +(\\S+) - (.*)$`),
    read: ([thread, tag = '', message = '']) => columns(message, { tag, context: { thread } }),
  },
  {
    // Cassandra: `INFO  [main] 2024-... Server.java:123 - message`; others write the level first without thread or source
    lead: layout(`^${LEVEL} +(?:${BRACKETED} )?`),
    body: layout('^ ?(?:(\\S+:\\d+) - )?(.*)$'),
    read: ([thread, source, message = '']) => columns(message, { ...(source && { source }), context: { thread } }),
  },
  {
    // Elasticsearch: `[INFO ][o.e.n.Node     ] [node-1] message`
    body: layout(`^\\[${LEVEL} *\\]\\[([^\\]]*)\\] ?(?:\\[([^\\]]*)\\] )?(.*)$`),
    read: ([tag = '', node, message = '']) => columns(message, { tag: tag.trimEnd(), context: { node } }),
  },
  {
    // Python: ` - app.db - INFO - message`
    body: layout(`^ - (\\S+) - ${LEVEL} - (.*)$`),
    read: ([tag = '', message = '']) => columns(message, { tag }),
  },
  {
    // log4j: ` INFO  [main] c.e.App - message`; Hadoop: ` INFO c.e.App: message`, where a name without a dot is prose
    body: layout(`^ ${LEVEL} +(?:${BRACKETED} +)?(?:([\\w.$/-]+) -|([\\w$/-]+\\.[\\w.$/-]+):) (.*)$`),
    read: ([thread, dashed, dotted, message = '']) =>
      columns(message, { tag: dashed ?? dotted ?? '', context: { thread } }),
  },
];

/** Kafka: `[2024-...] INFO message (kafka.server.KafkaServer)`. */
const KAFKA_LEVEL = layout(`^ ${LEVEL} +`);

/**
 * The columns after the time of a line in one of the usual layouts of log4j, logback and Spring, of Cassandra, Kafka and
 * Elasticsearch, and of Python's logging; `lead` is the part before.
 */
export function readLog4jColumns(body: string, lead: string): Columns | undefined {
  for (const { lead: leadPattern, body: pattern, read } of LAYOUTS) {
    const leadParts = leadPattern ? leadPattern.exec(lead) : [''];
    const parts = leadParts && pattern.exec(body);
    if (parts) return read([...leadParts.slice(1), ...parts.slice(1)]);
  }
  return lead.startsWith('[') ? readKafka(body) : undefined;
}

function readKafka(body: string): Columns | undefined {
  const level = KAFKA_LEVEL.exec(body);
  if (!level) return undefined;
  const text = body.slice(level[0].length);
  const open = text.endsWith(')') ? text.lastIndexOf(' (') : -1;
  const logger = open < 0 ? '' : text.slice(open + 2, -1);
  // Without a logger's name at the end, the parentheses are part of the message.
  if (!/^[\w.$-]+$/.test(logger)) return columns(text, {});
  return columns(text.slice(0, open), { tag: logger });
}

/**
 * Address, identity and user, which may contain spaces; preceded by the virtual host if what follows can be an address.
 */
const LEAD = /^(?:(\S+) (?=[^\s.:]*[.:]))?(\S+) (\S+) (.+?) \[/;
const QUOTED = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"';
const ACCESS_BODY = new RegExp(`^${QUOTED} (\\d{3}) (\\d+|-)(?: ${QUOTED} ${QUOTED})?`, 's');

/** The common and the combined log format of nginx and Apache. */
export function readAccessColumns(afterTime: string, lead: string): Columns | undefined {
  const body = afterTime.replace(/^ /, '');
  const [, request, status, bytes, referer, userAgent] = ACCESS_BODY.exec(body) ?? [];
  if (request === undefined) return undefined;
  const [, method, uri] = /^([A-Z]+) (\S+)/.exec(request) ?? [];
  return columns(body, {
    context: {
      ...readLead(lead),
      ...{ method, uri, status: exactNumber(status ?? '') },
      ...{
        bytes: bytes === '-' ? 0 : exactNumber(bytes ?? ''),
        referer: present(referer),
        userAgent: present(userAgent),
      },
    },
  });
}

/** A line of an access log whose request is not in quotes, or missing. */
export function readOtherAccessColumns(afterTime: string, lead: string): Columns {
  return columns(afterTime.replace(/^ /, ''), { context: readLead(lead) });
}

function readLead(lead: string): Record<string, string | undefined> {
  const [, host, remoteAddr = lead.split(' ', 1)[0], ident, user] = LEAD.exec(lead) ?? [];
  return { host, remoteAddr, ident: present(ident), user: present(user) };
}

/** Access logs and RFC 5424 have `-` for an unknown value. */
function present(value: string | undefined): string | undefined {
  return value === '-' ? undefined : value;
}

const ERROR_BODY = /^ \[[a-z]+\] (\d+)#(\d+): (?:\*(\d+) )?(.*)$/s;

/** nginx's error log: `2026/11/15 00:21:26 [error] 123#0: *1 message`. */
export function readNginxErrorColumns(body: string): Columns | undefined {
  const [, pid, tid, connection, message] = ERROR_BODY.exec(body) ?? [];
  if (!pid) return undefined;
  const context = {
    pid: exactNumber(pid),
    tid: exactNumber(tid ?? ''),
    connection: connection && exactNumber(connection),
  };
  return columns(message ?? '', { context });
}

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

const TIDB_LEVEL = /^ \[[A-Za-z]+\]/;

/** ` [key]` or ` [key=value]`, each part bare or quoted. */
const FIELD = / \[("[^"\\]*(?:\\.[^"\\]*)*"|[^\]="]*)(?:=("[^"\\]*(?:\\.[^"\\]*)*"|[^\]]*))?\]/sy;

/** TiDB, TiKV and PD: `[2024/08/16 09:48:23.118 +08:00] [INFO] [server.go:123] ["message"] [key="a value"]`. */
export function readTidbColumns(body: string, lead: string): Columns | undefined {
  const level = lead.startsWith('[') ? TIDB_LEVEL.exec(body)?.[0] : undefined;
  return level === undefined ? undefined : readFields(body, level.length);
}

/** Source and message, then fields as long as they are well-formed; the rest stays in the message. */
function readFields(body: string, start: number): Columns | undefined {
  const fields = new RegExp(FIELD);
  fields.lastIndex = start;
  const first = fields.exec(body);
  // If the source was omitted, the message comes first: a source is neither quoted nor a pair.
  const hasSource = first?.[2] === undefined && !first?.[1]?.startsWith('"');
  const text = hasSource ? fields.exec(body) : first;
  if (!first || !text) return undefined;
  const source = hasSource && first[1] !== '<unknown>' ? first[1] : undefined;
  const context: [string, unknown][] = [];
  let end = fields.lastIndex;
  for (let field = fields.exec(body); field; field = fields.exec(body)) {
    context.push([unquote(field[1] ?? ''), unquote(field[2] ?? '')]);
    end = fields.lastIndex;
  }
  const message = text[2] === undefined ? unquote(text[1] ?? '') : text[0].slice(2, -1);
  return columns(message + body.slice(end), {
    ...(source && { source }),
    context,
  });
}

/** `[info] `, `<Error> `, `Error: ` or `INFO `. */
const LEVEL_IN_FRONT = /^(?:(?=\W|\w+[:|])[[<(]? ?([A-Za-z]{3,11}) ?[\])>:|]{1,2}|([A-Z]{3,11}))(?:\s+|$)/;

/** A process and its role: `1:M `, `1:signal-handler `. */
const REDIS_LEAD = /^(\d+):(\S+)/;

const POSTGRES = /^ (?:[A-Z]{2,5} )?\[(\d+)(?:-\d+)?\] (?:([^\s@]+)@(\S+) )?([A-Z]+\d?): {2}(.*)$/s;

/** Lines with a date and a time and no columns but a level: also those of PostgreSQL and Redis, and logfmt. */
export function readPlainColumns(body: string, lead: string, zone: Zone): Columns | undefined {
  if (/^\w+=/.test(lead)) return readLogfmtColumns(lead + body, zone);
  return readPostgresColumns(body) ?? readOtherColumns(body, lead);
}

function readPostgresColumns(body: string): Columns | undefined {
  const [, pid, user, database, , message = ''] = POSTGRES.exec(body) ?? [];
  return pid ? columns(message, { context: { pid: exactNumber(pid), user, database } }) : undefined;
}

function readOtherColumns(body: string, lead: string): Columns {
  // Columns separated by tabs, as zap's console encoder writes them after an ISO time.
  if (body.startsWith('\t')) {
    const { localMs: _time, level: _level, ...rest } = decodeRecord(Buffer.from(body.slice(1)));
    return rest;
  }
  const [, redisPid, role] = REDIS_LEAD.exec(lead) ?? [];
  if (redisPid)
    return columns(body.replace(/^\)? (?:[.*#-] )?/, ''), { context: { pid: exactNumber(redisPid), role } });
  const [, goSource, goMessage = ''] = /^ ([\w./-]+\.go:\d+): (.*)$/s.exec(body) ?? [];
  if (goSource) return columns(goMessage, { source: goSource });
  return columns(withoutLevel(body), {});
}

/** The body without a leading level, which has its own column. `error opening x` is a sentence and stays. */
function withoutLevel(body: string): string {
  const text = body.trimStart();
  const [whole = '', marked, bare] = LEVEL_IN_FRONT.exec(text) ?? [];
  const word = Buffer.from(marked ?? bare ?? '');
  return findLevelWord(word, 0, word.length)?.isAmbiguous === false ? text.slice(whole.length) : text;
}

const PAIR = / *([\w.@/-]+)=("[^"\\]*(?:\\.[^"\\]*)*"|[^\s"]*)(?= |$)/sy;

/** The pairs as columns; what is not a pair is appended to the message. */
function readLogfmtColumns(body: string, zone: Zone): Columns | undefined {
  const pair = new RegExp(PAIR);
  const pairs: [string, string][] = [];
  let end = 0;
  for (let match = pair.exec(body); match; match = pair.exec(body)) {
    pairs.push([match[1] ?? '', unquote(match[2] ?? '')]);
    end = pair.lastIndex;
  }
  if (pairs.length === 0) return undefined;
  const take = (names: string[], fits = (_: string) => true) => {
    const index = pairs.findIndex(([name, value]) => names.includes(name) && fits(value));
    return index < 0 ? undefined : pairs.splice(index, 1)[0]?.[1];
  };
  const asToken = (value: string) => Buffer.from(value);
  take(TIME_KEYS, (value) => !Number.isNaN(readTimeToken(asToken(value), 0, Buffer.byteLength(value), zone)));
  take(LEVEL_KEYS, (value) => readLevelToken(asToken(value), 0, Buffer.byteLength(value)) > 0);
  const message = [take(MESSAGE_KEYS), body.slice(end).trim()].filter(Boolean).join(' ');
  const source = take(SOURCE_KEYS, (value) => /:\d+$/.test(value));
  const tag = take(TAG_KEYS);
  return columns(message, { ...(source && { source }), ...(tag && { tag }), context: pairs });
}
