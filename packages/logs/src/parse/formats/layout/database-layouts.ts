import { CTIME, ISO } from './common-times.ts';
import type { LayoutDefinition } from './layout-format.ts';

export const DATABASE_LAYOUTS = [
  {
    name: 'mysql-error',
    programs: 'MySQL and MariaDB error logs',
    times: [ISO, 'yyyy-MM-dd  H:mm:ss'],
    lines: ['{time} {thread:int} [{level}] [{code}] [{logger}] {message}', '{time} {thread:int} [{level}] {message}'],
    others: ['{time} {logger:mysqld_safe|mariadbd-safe} {message}', '{time} {message}'],
    levels: { Note: 'INFO', System: 'INFO' },
  },
  {
    name: 'mysql-error-old',
    programs: 'MySQL and MariaDB error logs before 5.7 and 10.1',
    times: ['yyMMdd H:mm:ss'],
    lines: ['{time} [{level}] {message}', '{time} mysqld_safe {message}', '{time} InnoDB: {message}'],
    others: ['{time} {message}'],
    levels: { Note: 'INFO', System: 'INFO' },
  },
  {
    name: 'mysql-slow',
    programs: 'MySQL and MariaDB slow query logs',
    times: [ISO, 'yyMMdd H:mm:ss'],
    lines: ['# Time: {time}'],
  },
  {
    name: 'mysql-general',
    programs: 'MySQL and MariaDB general query logs',
    times: [ISO, 'yyMMdd H:mm:ss'],
    lines: [
      '{time} {thread:int} {command:Query|Connect|Quit|Prepare|Execute|Statistics|Ping|Refresh|Kill|Binlog|Sleep|Debug} {message?}',
      '{time} {thread:int} {command:Init|Field|Close|Reset|Long|Create|Drop|Change|Table|Register} {message?}',
      '{time} {thread:int} {command:Query|Connect|Quit|Prepare|Execute|Statistics|Ping|Refresh|Kill}',
    ],
  },
  {
    name: 'postgresql-csv',
    programs: 'PostgreSQL csvlog',
    times: [ISO],
    lines: ['{time},{_?},{_?},{pid:int},{_?},{session},{_:int},{_?},{_},{_?},{_:int},{level},{code},{message}'],
    csv: [
      ...['detail', 'hint', 'internalQuery', 'internalPosition', 'context', 'query', 'position', 'location'],
      ...['application', 'backend', 'leader', 'queryId'],
    ],
  },
  {
    name: 'mongodb',
    programs: 'MongoDB before 4.4',
    times: [ISO],
    lines: ['{time} {level} {logger:word} [{context}] {message}'],
  },
  {
    name: 'pgbouncer',
    programs: 'PgBouncer',
    times: [ISO],
    lines: ['{time} [{pid:int}] {level} {message}'],
    levels: { LOG: 'INFO', NOISE: 'DEBUG' },
  },
  {
    name: 'redis-2',
    programs: 'Redis before 3.0',
    times: ['d MMM HH:mm:ss[.S]', 'd MMM yyyy HH:mm:ss[.S]'],
    lines: ['[{pid:int}] {time} {level} {message}'],
    levels: { '.': 'DEBUG', '-': 'DEBUG', '*': 'INFO', '#': 'WARN' },
  },
  {
    name: 'clickhouse',
    programs: 'ClickHouse',
    times: ['yyyy.MM.dd HH:mm:ss[.S]'],
    lines: ['{time} [ {thread:int} ] {{{query?}} <{level}> {logger}: {message}'],
    levels: { Information: 'INFO', Test: 'TRACE' },
  },
  {
    name: 'scylla',
    programs: 'ScyllaDB',
    times: [ISO],
    lines: ['{level} {time} [shard {shard}] {logger:word} - {message}'],
  },
  {
    name: 'questdb',
    programs: 'QuestDB',
    times: [ISO],
    lines: ['{time} {level:A|C|D|E|I} {logger:word} {message}'],
    levels: { A: 'INFO' },
  },
  {
    name: 'aerospike',
    programs: 'Aerospike',
    times: ['MMM dd yyyy HH:mm:ss[.S] X'],
    lines: ['{time}: {level} ({logger}): ({source}) {message}', '{time}: {level} ({logger}): {message}'],
    levels: { DETAIL: 'TRACE' },
  },
  {
    name: 'couchbase',
    programs: 'Couchbase',
    times: [ISO],
    lines: ['[{logger:word}:{level},{time},{process}]{message?}'],
  },
  {
    name: 'db2',
    programs: 'Db2 diagnostic logs',
    times: ['yyyy-MM-dd-HH.mm.ss.SO', 'yyyy-MM-dd-HH.mm.ss.S'],
    lines: ['{time} {record:word} LEVEL: {level}'],
    levels: { Event: 'INFO' },
  },
  {
    name: 'sql-server',
    programs: 'Microsoft SQL Server',
    times: ['yyyy-MM-dd HH:mm:ss.S'],
    lines: ['{time} spid{spid:word} {message}', '{time} {logger:Server|Logon|Backup} {message}'],
  },
  {
    name: 'oracle-alert',
    programs: 'Oracle alert logs',
    times: ["yyyy-MM-dd'T'HH:mm:ss.SX", CTIME],
    lines: ['{time}'],
  },
] as const satisfies readonly LayoutDefinition[];
