import { CTIME, ISO } from './common-times.ts';
import type { LayoutDefinition } from './layout-format.ts';

export const SYSTEM_LAYOUTS = [
  {
    name: 'auditd',
    programs: 'the Linux audit daemon',
    times: ['epoch'],
    lines: ['type={logger:word} msg=audit({time}:{event:int}): {message}'],
  },
  {
    name: 'alternatives',
    programs: 'update-alternatives',
    times: ['yyyy-MM-dd HH:mm:ss'],
    lines: ['update-alternatives {time}: {message}'],
  },
  {
    name: 'apt-history',
    programs: 'apt',
    times: ['yyyy-MM-dd  HH:mm:ss'],
    lines: ['Start-Date: {time}', 'Log started: {time}'],
  },
  {
    name: 'dmesg',
    programs: 'dmesg -T',
    times: [CTIME],
    lines: ['[{time}] {message}'],
  },
  {
    name: 'vsftpd',
    programs: 'vsftpd',
    times: [CTIME],
    lines: ['{time} [pid {pid:int}] {message}'],
  },
  {
    name: 'android',
    programs: 'Android logcat',
    times: ['MM-dd HH:mm:ss.S'],
    lines: [
      '{time} {pid:int} {tid:int} {level} {logger}: {message?}',
      '{time} {level:V|D|I|W|E|F|A}/{logger}({pid}): {message?}',
    ],
  },
  {
    name: 'android-year',
    programs: 'Android logcat with years',
    times: ['yyyy-MM-dd HH:mm:ss.S[ X]'],
    lines: [
      '{time} {pid:int} {tid:int} {level:V|D|I|W|E|F|A} {logger}: {message?}',
      '{time} {uid:word} {pid:int} {tid:int} {level:V|D|I|W|E|F|A} {logger}: {message?}',
    ],
  },
  {
    name: 'journal-full',
    programs: 'journalctl -o short-full',
    times: [ISO],
    lines: [
      '{_:Mon|Tue|Wed|Thu|Fri|Sat|Sun} {time} {host:word} {logger}[{pid:int}]: {message?}',
      '{_:Mon|Tue|Wed|Thu|Fri|Sat|Sun} {time} {host:word} {logger}: {message?}',
    ],
  },
  {
    name: 'windows-cbs',
    programs: 'Windows component servicing',
    times: ['yyyy-MM-dd HH:mm:ss'],
    lines: ['{time}, {level} {logger:word} {message}'],
  },
  {
    name: 'bgl',
    programs: 'Blue Gene and similar supercomputers',
    times: ['yyyy-MM-dd-HH.mm.ss.S'],
    lines: ['{alert} {_:int} {_} {node} {time} {_} {type} {logger} {level} {message?}'],
    levels: { FAILURE: 'ERROR' },
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
    times: ['yyyyMMdd-H:m:s:S'],
    lines: ['{time}|{logger}|{id}|{message?}'],
  },
  {
    name: 'proxifier',
    programs: 'Proxifier',
    times: ['MM.dd HH:mm:ss'],
    lines: ['[{time}] {logger:word} - {message}', '[{time}] {logger:word} *64 - {message}'],
  },
] as const satisfies readonly LayoutDefinition[];

/** What is used if nothing else fits and most lines have a readable time near their start. */
export const FALLBACK_LAYOUTS = [
  {
    name: 'timed-text',
    programs: 'other lines with a time near their start',
    findsLevel: true,
    times: [
      ISO,
      CTIME,
      'EEE[,] MMM d HH:mm:ss[.S] X yyyy',
      'EEE[,] d MMM yyyy HH:mm:ss[.S][ X]',
      'dd/MMM/yyyy:HH:mm:ss[.S][ X]',
      'd MMM yyyy HH:mm:ss[.S][ X]',
      'd-MMM-yyyy HH:mm:ss[.S][ X]',
      'MMM d[,] yyyy H:mm:ss[.S][ ][a][ X]',
      'MMM d HH:mm:ss[.S]',
      'M/d/yyyy[,] H:mm:ss[.S][ ][a]',
      "yyyyMMdd[-][.][ ]['T']HH[:]mm[:]ss[.S][,S][:S][X]",
      'epoch',
    ],
    lines: [
      '{time} {message}',
      '[{time}] {message}',
      '({time}) {message}',
      '"{time}" {message}',
      '{lead:word} {time} {message}',
      '{lead:word} [{time}] {message}',
      '{lead:word} {_:word} {time} {message}',
    ],
    others: ['{time}:{message}', '{time}'],
  },
  {
    name: 'clock-text',
    programs: 'other lines that start with a time of day',
    findsLevel: true,
    times: ['HH:mm:ss[.S][,S]', 'H:mma'],
    lines: ['{time} {message}', '[{time}] {message}', '{lead:int} {time} {message}'],
  },
] as const satisfies readonly LayoutDefinition[];
