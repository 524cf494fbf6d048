import type { Spelling } from '../heads/time-spellings.ts';

/** Columns that are described by the layouts of lines. */
export interface LayoutColumns {
  /** What is named to users. */
  name: string;
  /** Which programs write them. */
  programs: string;
  /** How times are spelled. */
  times: readonly Spelling[];
  /** Line layouts, the most specific first; `compileLineLayout` explains them. */
  lines: readonly string[];
  /** Further layouts, which do not show that a file has these columns. */
  others?: readonly string[];
}

/** Specific before general. Each has a fixture of its name. */
export const LAYOUT_COLUMNS = [
  {
    name: 'mysql-error',
    programs: 'MySQL and MariaDB error logs',
    times: ['iso'],
    lines: ['{time} {thread:int} [{level}] [{code}] [{logger}] {message}', '{time} {thread:int} [{level}] {message}'],
    others: ['{time} {logger:mysqld_safe|mariadbd-safe} {message}', '{time} {message}'],
  },
  {
    name: 'mysql-error-old',
    programs: 'MySQL and MariaDB error logs before 5.7 and 10.1',
    times: ['short'],
    lines: ['{time} [{level}] {message}', '{time} mysqld_safe {message}', '{time} InnoDB: {message}'],
    others: ['{time} {message}'],
  },
  {
    name: 'mysql-general',
    programs: 'MySQL and MariaDB general query logs',
    times: ['iso', 'short'],
    lines: [
      '{time} {thread:int} {command:Query|Connect|Quit|Prepare|Execute|Statistics|Ping|Refresh|Kill|Binlog|Sleep|Debug} {message?}',
      '{time} {thread:int} {command:Init|Field|Close|Reset|Long|Create|Drop|Change|Table|Register} {message?}',
      '{time} {thread:int} {command:Query|Connect|Quit|Prepare|Execute|Statistics|Ping|Refresh|Kill}',
    ],
  },
  {
    name: 'mongodb',
    programs: 'MongoDB before 4.4',
    times: ['iso'],
    lines: ['{time} {level} {logger:word} [{context}] {message}'],
  },
  {
    name: 'pgbouncer',
    programs: 'PgBouncer',
    times: ['iso'],
    lines: ['{time} [{pid:int}] {level} {message}'],
  },
  {
    name: 'redis-2',
    programs: 'Redis before 3.0',
    times: ['day-month-clock', 'day-month'],
    lines: ['[{pid:int}] {time} {_:word} {message}'],
  },
  {
    name: 'clickhouse',
    programs: 'ClickHouse',
    times: ['iso'],
    lines: ['{time} [ {thread:int} ] {{{query?}} <{level}> {logger}: {message}'],
  },
  {
    name: 'scylla',
    programs: 'ScyllaDB',
    times: ['iso'],
    lines: ['{level} {time} [shard {shard}] {logger:word} - {message}'],
  },
  {
    name: 'questdb',
    programs: 'QuestDB',
    times: ['iso'],
    lines: ['{time} {level:A|C|D|E|I} {logger:word} {message}'],
  },
  {
    name: 'aerospike',
    programs: 'Aerospike',
    times: ['month-day'],
    lines: ['{time}: {level} ({logger}): ({source}) {message}', '{time}: {level} ({logger}): {message}'],
  },
  {
    name: 'couchbase',
    programs: 'Couchbase',
    times: ['iso'],
    lines: ['[{logger:word}:{level},{time},{process}]{message?}'],
  },
  {
    name: 'db2',
    programs: 'Db2 diagnostic logs',
    times: ['iso'],
    lines: ['{time} {record:word} LEVEL: {level}'],
  },
  {
    name: 'sql-server',
    programs: 'Microsoft SQL Server',
    times: ['iso'],
    lines: ['{time} spid{spid:word} {message}', '{time} {logger:Server|Logon|Backup} {message}'],
  },
  {
    name: 'oracle-alert',
    programs: 'Oracle alert logs',
    times: ['iso', 'month-day'],
    lines: ['{time}'],
  },
  {
    name: 'nats',
    programs: 'NATS',
    times: ['iso'],
    lines: ['[{pid:int}] {time} [{level}] {message}'],
  },
  {
    name: 'rabbitmq',
    programs: 'RabbitMQ 3.7 and newer',
    times: ['iso'],
    lines: ['{time} [{level}] <{process}> {message}'],
  },
  {
    name: 'rabbitmq-old',
    programs: 'RabbitMQ before 3.7 and other Erlang programs',
    times: ['day-month'],
    lines: ['={level} REPORT==== {time} ==={_?}'],
  },
  {
    name: 'mosquitto',
    programs: 'Mosquitto',
    times: ['epoch'],
    lines: ['{time}: {level}: {message}', '{time}: {message}'],
  },
  {
    name: 'activemq',
    programs: 'ActiveMQ',
    times: ['iso'],
    lines: ['{time} | {level} | {message:text} | {logger} | {thread}'],
  },
  {
    name: 'zerolog-console',
    programs: 'Traefik 3 and others with zerolog on a console',
    times: ['iso'],
    lines: [
      '{time} {level:TRC|DBG|INF|WRN|ERR|FTL|PNC} {source:word} > {message?}',
      '{time} {level:TRC|DBG|INF|WRN|ERR|FTL|PNC} {message?}',
    ],
  },
  {
    name: 'apache-error',
    programs: 'Apache HTTP Server error logs',
    times: ['month-day'],
    lines: [
      '[{time}] [{logger:word}:{level}] [pid {pid:int}:tid {tid:int}] [client {client}] {message}',
      '[{time}] [{logger:word}:{level}] [pid {pid:int}:tid {tid:int}] {message}',
      '[{time}] [{logger:word}:{level}] [pid {pid:int}] [client {client}] {message}',
      '[{time}] [{logger:word}:{level}] [pid {pid:int}] {message}',
      '[{time}] [{level}] [client {client}] {message}',
      '[{time}] [{level}] {message}',
    ],
  },
  {
    name: 'envoy',
    programs: 'Envoy',
    times: ['iso'],
    lines: [
      '[{time}][{thread:int}][{level}][{logger}] [{source}] {message}',
      '[{time}][{thread:int}][{level}][{logger}] {message}',
      '[{time}] "{method} {uri} {protocol}" {status:http} {message}',
    ],
  },
  {
    name: 'haproxy',
    programs: 'HAProxy, without syslog',
    times: ['day-month'],
    lines: [
      '{remoteAddr} [{time}] {frontend} {backend} {timers} {status:http} {bytes} {_} {_} {termination} {message}',
      '{remoteAddr} [{time}] {frontend} {backend} {timers} {bytes:int} {termination} {message}',
    ],
    others: ['{remoteAddr} [{time}] {message}'],
  },
  {
    name: 'squid',
    programs: 'Squid access logs',
    times: ['epoch'],
    lines: ['{time} {elapsed:int} {remoteAddr} {result}/{status:http} {bytes:int} {method} {message}'],
  },
  {
    name: 'tomcat',
    programs: 'Tomcat, and java.util.logging on one line',
    times: ['day-month'],
    lines: ['{time} {level} [{thread}] {logger:word} {message}'],
  },
  {
    name: 'spark',
    programs: 'Spark and Hadoop with short dates',
    times: ['numeric'],
    lines: ['{time} {level} {logger:word}: {message}'],
  },
  {
    name: 'hdfs',
    programs: 'HDFS with compact dates',
    times: ['short'],
    lines: ['{time} {thread:int} {level} {logger:word}: {message}'],
  },
  {
    name: 'zookeeper',
    programs: 'ZooKeeper before 3.5',
    times: ['iso'],
    lines: ['{time} - {level} [{thread}@{line:int}] - {message}'],
  },
  {
    name: 'flink',
    programs: 'Flink and other log4j2 layouts with a marker',
    times: ['iso'],
    lines: ['{time} {level} {logger:word} [{marker?}] - {message}'],
  },
  {
    name: 'dropwizard',
    programs: 'Dropwizard',
    times: ['iso'],
    lines: ['{level} [{time}] {logger:word}: {message}'],
  },
  {
    name: 'clock-first',
    programs: 'default patterns of logback and log4j2, without a date',
    times: ['clock'],
    lines: ['{time} [{thread}] {level} {logger:word} - {message}'],
  },
  {
    name: 'oslo',
    programs: 'OpenStack',
    times: ['iso'],
    lines: [
      '{time} {pid:int} {level} {logger:word} [{request}] {message}',
      '{time} {pid:int} {level} {logger:word} {message}',
      '{file:word} {time} {pid:int} {level} {logger:word} [{request}] {message}',
      '{file:word} {time} {pid:int} {level} {logger:word} {message}',
    ],
  },
  {
    name: 'celery',
    programs: 'Celery',
    times: ['iso'],
    lines: ['[{time}: {level}/{process}] {message}'],
  },
  {
    name: 'gunicorn',
    programs: 'Gunicorn',
    times: ['iso'],
    lines: ['[{time}] [{pid:int}] [{level}] {message}'],
  },
  {
    name: 'loguru',
    programs: 'Loguru',
    times: ['iso'],
    lines: ['{time} | {level} | {source:text} - {message}'],
  },
  {
    name: 'ruby',
    programs: "Ruby's Logger, Rails",
    times: ['iso'],
    lines: ['{_:D|I|W|E|F|A}, [{time} #{pid:int}] {level} -- {logger?}: {message?}'],
  },
  {
    name: 'monolog',
    programs: 'Monolog',
    times: ['iso'],
    lines: ['[{time}] {logger:word}.{level}: {message}'],
  },
  {
    name: 'env-logger',
    programs: "Rust's env_logger",
    times: ['iso'],
    lines: ['[{time} {level} {logger}] {message}'],
  },
  {
    name: 'nlog',
    programs: 'NLog',
    times: ['iso'],
    lines: ['{time}|{level}|{logger}|{message}', '{time}|{event:int}|{level}|{logger}|{message}'],
  },
  {
    name: 'serilog-console',
    programs: 'Serilog on a console',
    times: ['clock'],
    lines: ['[{time} {level}] {message}'],
  },
  {
    name: 'telegraf',
    programs: 'Telegraf',
    times: ['iso'],
    lines: ['{time} {level}! {message}'],
  },
  {
    name: 'hclog',
    programs: 'Consul, Vault, Nomad',
    times: ['iso'],
    lines: ['{time} [{level}] {logger:word}: {message}'],
  },
  {
    name: 'winston',
    programs: 'winston with a label, as its documentation formats lines',
    times: ['iso'],
    lines: ['{time} [{logger}] {level:error|warn|info|http|verbose|debug|silly}: {message?}'],
  },
  {
    name: 'zap-console',
    programs: 'zap, production encoder on a console',
    times: ['epoch'],
    lines: ['{time} {level} {message}'],
  },
  {
    name: 'auditd',
    programs: 'the Linux audit daemon',
    times: ['epoch'],
    lines: ['type={logger:word} msg=audit({time}:{event:int}): {message}'],
  },
  {
    name: 'alternatives',
    programs: 'update-alternatives',
    times: ['iso'],
    lines: ['update-alternatives {time}: {message}'],
  },
  {
    name: 'dmesg',
    programs: 'dmesg -T',
    times: ['month-day'],
    lines: ['[{time}] {message}'],
  },
  {
    name: 'vsftpd',
    programs: 'vsftpd',
    times: ['month-day'],
    lines: ['{time} [pid {pid:int}] {message}'],
  },
  {
    name: 'android',
    programs: 'Android logcat',
    times: ['numeric-clock'],
    lines: [
      '{time} {pid:int} {tid:int} {level} {logger}: {message?}',
      '{time} {level:V|D|I|W|E|F|A}/{logger}({pid}): {message?}',
    ],
  },
  {
    name: 'android-year',
    programs: 'Android logcat with years',
    times: ['iso'],
    lines: [
      '{time} {pid:int} {tid:int} {level:V|D|I|W|E|F|A} {logger}: {message?}',
      '{time} {uid:word} {pid:int} {tid:int} {level:V|D|I|W|E|F|A} {logger}: {message?}',
    ],
  },
  {
    name: 'windows-cbs',
    programs: 'Windows component servicing',
    times: ['iso'],
    lines: ['{time}, {level} {logger:word} {message}'],
  },
  {
    name: 'bgl',
    programs: 'Blue Gene and similar supercomputers',
    times: ['iso'],
    lines: ['{alert} {_:int} {_} {node} {time} {_} {type} {logger} {level} {message?}'],
  },
  {
    name: 'supercomputer',
    programs: 'Thunderbird, Spirit and other supercomputers',
    times: ['epoch'],
    lines: ['{alert} {time} {_} {node} {_} {_:int} {_} {host} {message}'],
  },
  {
    name: 'hpc',
    programs: 'HPC cluster events',
    times: ['epoch'],
    lines: ['{id:int} {node} {logger} {state} {time} {flag:int} {message}'],
  },
  {
    name: 'health-app',
    programs: 'columns between bars after a compact time',
    times: ['compact'],
    lines: ['{time}|{logger}|{id}|{message?}'],
  },
  {
    name: 'proxifier',
    programs: 'Proxifier',
    times: ['numeric-clock'],
    lines: ['[{time}] {logger:word} - {message}', '[{time}] {logger:word} *64 - {message}'],
  },
] as const satisfies readonly LayoutColumns[];

export type LayoutColumnsName = (typeof LAYOUT_COLUMNS)[number]['name'];
