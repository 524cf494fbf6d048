import type { LayoutDefinition } from './layout-format.ts';

/** Dates and times in the order of ISO 8601, as most programs write them. */
const ISO = "yyyy-MM-dd['T'][ ]HH:mm:ss[.S][,S][X][ X]";

/** Formats whose meaning is not in the heads of their lines alone: in a header, in the order of columns, or in a key. */
export const OWN_LAYOUTS = [
  {
    name: 'mysql-slow',
    programs: 'MySQL and MariaDB slow query logs',
    times: [ISO, 'yyMMdd H:mm:ss'],
    lines: ['# Time: {time}'],
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
    name: 'apt-history',
    programs: 'apt',
    times: ['yyyy-MM-dd  HH:mm:ss'],
    lines: ['Start-Date: {time}', 'Log started: {time}'],
  },
  {
    name: 'w3c',
    programs: 'IIS and other W3C extended logs',
    zone: 'UTC',
    header: '#Fields: date time ',
    times: ['yyyy-MM-dd HH:mm:ss'],
    lines: [
      '{time} {serverAddr} {method} {uri} {query} {port:int} {user} {remoteAddr} {userAgent} {referer} {status:http} {message}',
      '{time} {serverAddr} {method} {uri} {query} {port:int} {user} {remoteAddr} {userAgent} {status:http} {message}',
    ],
    others: ['{time} {message}'],
  },
  {
    name: 'cloudfront',
    programs: 'Amazon CloudFront',
    zone: 'UTC',
    times: ['yyyy-MM-dd\tHH:mm:ss'],
    lines: [
      '{time} {edge} {bytes:int} {remoteAddr} {method} {host} {uri} {status:http} {referer} {userAgent} {message}',
    ],
  },
] as const satisfies readonly LayoutDefinition[];

export type OwnLayoutName = (typeof OWN_LAYOUTS)[number]['name'];
