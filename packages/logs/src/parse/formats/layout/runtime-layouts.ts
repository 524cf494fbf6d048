import { ISO } from './common-times.ts';
import type { LayoutDefinition } from './layout-format.ts';

export const RUNTIME_LAYOUTS = [
  {
    name: 'tomcat',
    programs: 'Tomcat, and java.util.logging on one line',
    times: ['dd-MMM-yyyy HH:mm:ss[.S]'],
    lines: ['{time} {level} [{thread}] {logger:word} {message}'],
    levels: { CONFIG: 'DEBUG' },
  },
  {
    name: 'spark',
    programs: 'Spark and Hadoop with short dates',
    times: ['yy/MM/dd HH:mm:ss'],
    lines: ['{time} {level} {logger:word}: {message}'],
  },
  {
    name: 'hdfs',
    programs: 'HDFS with compact dates',
    times: ['yyMMdd HHmmss'],
    lines: ['{time} {thread:int} {level} {logger:word}: {message}'],
  },
  {
    name: 'zookeeper',
    programs: 'ZooKeeper before 3.5',
    times: [ISO],
    lines: ['{time} - {level} [{thread}@{line:int}] - {message}'],
  },
  {
    name: 'flink',
    programs: 'Flink and other log4j2 layouts with a marker',
    times: [ISO],
    lines: ['{time} {level} {logger:word} [{marker?}] - {message}'],
  },
  {
    name: 'dropwizard',
    programs: 'Dropwizard',
    times: [ISO],
    lines: ['{level} [{time}] {logger:word}: {message}'],
  },
  {
    name: 'clock-first',
    programs: 'default patterns of logback and log4j2, without a date',
    times: ['HH:mm:ss[.S][,S]'],
    lines: ['{time} [{thread}] {level} {logger:word} - {message}'],
  },
  {
    name: 'oslo',
    programs: 'OpenStack',
    times: [ISO],
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
    times: [ISO],
    lines: ['[{time}: {level}/{process}] {message}'],
  },
  {
    name: 'gunicorn',
    programs: 'Gunicorn',
    times: [ISO],
    lines: ['[{time}] [{pid:int}] [{level}] {message}'],
  },
  {
    name: 'loguru',
    programs: 'Loguru',
    times: [ISO],
    lines: ['{time} | {level} | {source:text} - {message}'],
    levels: { SUCCESS: 'INFO' },
  },
  {
    name: 'ruby',
    programs: "Ruby's Logger, Rails",
    times: ["yyyy-MM-dd'T'HH:mm:ss.S"],
    lines: ['{_:D|I|W|E|F|A}, [{time} #{pid:int}] {level} -- {logger?}: {message?}'],
    levels: { ANY: 'INFO' },
  },
  {
    name: 'monolog',
    programs: 'Monolog',
    times: [ISO],
    lines: ['[{time}] {logger:word}.{level}: {message}'],
  },
  {
    name: 'env-logger',
    programs: "Rust's env_logger",
    times: [ISO],
    lines: ['[{time} {level} {logger}] {message}'],
  },
  {
    name: 'nlog',
    programs: 'NLog',
    times: [ISO],
    lines: ['{time}|{level}|{logger}|{message}', '{time}|{event:int}|{level}|{logger}|{message}'],
  },
  {
    name: 'serilog-console',
    programs: 'Serilog on a console',
    times: ['HH:mm:ss[.S]'],
    lines: ['[{time} {level}] {message}'],
  },
  {
    name: 'telegraf',
    programs: 'Telegraf',
    times: [ISO],
    lines: ['{time} {level}! {message}'],
  },
  {
    name: 'hclog',
    programs: 'Consul, Vault, Nomad',
    times: [ISO],
    lines: ['{time} [{level}] {logger:word}: {message}'],
  },
  {
    name: 'zap-console',
    programs: 'zap, production encoder on a console',
    times: ['epoch'],
    lines: ['{time} {level} {message}'],
  },
] as const satisfies readonly LayoutDefinition[];
