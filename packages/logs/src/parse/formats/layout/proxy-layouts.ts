import { CTIME, ISO } from './common-times.ts';
import type { LayoutDefinition } from './layout-format.ts';

export const PROXY_LAYOUTS = [
  {
    name: 'zerolog-console',
    programs: 'Traefik 3 and others with zerolog on a console',
    times: [ISO],
    lines: [
      '{time} {level:TRC|DBG|INF|WRN|ERR|FTL|PNC} {source:word} > {message?}',
      '{time} {level:TRC|DBG|INF|WRN|ERR|FTL|PNC} {message?}',
    ],
    levels: { PNC: 'FATAL' },
  },
  {
    name: 'apache-error',
    programs: 'Apache HTTP Server error logs',
    times: [CTIME],
    lines: [
      '[{time}] [{logger:word}:{level}] [pid {pid:int}:tid {tid:int}] [client {client}] {message}',
      '[{time}] [{logger:word}:{level}] [pid {pid:int}:tid {tid:int}] {message}',
      '[{time}] [{logger:word}:{level}] [pid {pid:int}] [client {client}] {message}',
      '[{time}] [{logger:word}:{level}] [pid {pid:int}] {message}',
      '[{time}] [{level}] [client {client}] {message}',
      '[{time}] [{level}] {message}',
    ],
    levels: { trace1: 'TRACE', trace2: 'TRACE', trace3: 'TRACE', trace4: 'TRACE', trace8: 'TRACE' },
  },
  {
    name: 'envoy',
    programs: 'Envoy',
    times: [ISO],
    lines: [
      '[{time}][{thread:int}][{level}][{logger}] [{source}] {message}',
      '[{time}][{thread:int}][{level}][{logger}] {message}',
      '[{time}] "{method} {uri} {protocol}" {status:http} {message}',
    ],
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
  {
    name: 'haproxy',
    programs: 'HAProxy, without syslog',
    times: ['dd/MMM/yyyy:HH:mm:ss.S'],
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
] as const satisfies readonly LayoutDefinition[];
