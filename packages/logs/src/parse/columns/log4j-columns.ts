import { exactNumber } from '../exact-context.ts';
import { type Columns, columns } from '../formats/define-format.ts';

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
