import { ISO } from './common-times.ts';
import type { LayoutDefinition } from './layout-format.ts';

export const BROKER_LAYOUTS = [
  {
    name: 'nats',
    programs: 'NATS',
    times: ['yyyy/MM/dd HH:mm:ss[.S]'],
    lines: ['[{pid:int}] {time} [{level}] {message}'],
  },
  {
    name: 'rabbitmq',
    programs: 'RabbitMQ 3.7 and newer',
    times: [ISO],
    lines: ['{time} [{level}] <{process}> {message}'],
  },
  {
    name: 'rabbitmq-old',
    programs: 'RabbitMQ before 3.7 and other Erlang programs',
    times: ['d-MMM-yyyy::HH:mm:ss[.S]'],
    lines: ['={level} REPORT==== {time} ==={_?}'],
    levels: { PROGRESS: 'INFO', SUPERVISOR: 'ERROR', CRASH: 'ERROR' },
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
    times: [ISO],
    lines: ['{time} | {level} | {message:text} | {logger} | {thread}'],
  },
] as const satisfies readonly LayoutDefinition[];
