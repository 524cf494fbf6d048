import { type Fault, FRAMING_NAMES, type FramingName, frame, OPEN_FRAMINGS, type Reply } from './faulty-server.ts';

/** `MORE=20 SEED=random` looks for new cases. */
const MORE = Number(process.env.MORE ?? 1);

const CUTS = ['fin', 'rst'] as const;

interface FramingChoice {
  except?: readonly FramingName[];
  /** Only every so many of them, beginning with this one: what is left is tried with responses that are read alike. */
  share?: { of: number; from: number };
}

/** Every framing as it is, and some of them late or cut somewhere; with MORE, all of them. */
export function everyFraming(reply: Reply, { except = [], share = { of: 1, from: 0 } }: FramingChoice = {}): Fault[] {
  const names = FRAMING_NAMES.filter((name) => !OPEN_FRAMINGS.includes(name) && !except.includes(name));
  return names.flatMap((framing, index): Fault[] => {
    if (MORE === 1 && index % share.of !== share.from) return [];
    const at = Math.floor((frame(framing, reply).length * (index + 1)) / (names.length + 1));
    const late = { framing, lateMs: 10 };
    const cut = { framing, at, end: CUTS[index % 2] ?? 'fin' };
    if (MORE > 1) return [{ framing }, late, cut];
    return index % 4 === 0 ? [{ framing }, late] : index % 4 === 2 ? [{ framing }, cut] : [{ framing }];
  });
}

/** Cut at every byte of head and body, by turns with FIN and RST; with MORE, with both. Or at so many of the bytes. */
export function everyByte(framing: FramingName, reply: Reply, count = Infinity): Fault[] {
  return spread(frame(framing, reply).length, count).flatMap((at, index) =>
    (MORE > 1 ? CUTS : CUTS.slice(index % 2, (index % 2) + 1)).map((end) => ({ framing, at, end })),
  );
}

/** Silent after so many bytes of the head, which costs the time that is given to a response. */
export function silentHeads(reply: Reply, count: number): Fault[] {
  const bytes = frame('length', { ...reply, body: Buffer.alloc(0) }).length - 1;
  return spread(bytes, count).map((at) => ({ framing: 'length', at, end: 'stall' }));
}

/** Silent within the body, or at its end where more was announced. */
export function silentBodies(reply: Reply, count: number): Fault[] {
  const bytes = frame('length', reply).length;
  const cuts = spread(reply.body.length, count).map((at) => bytes - reply.body.length + at);
  return [
    ...OPEN_FRAMINGS.map((framing) => ({ framing })),
    ...cuts.flatMap((at) =>
      (['length', 'chunked'] as const).map((framing) => ({ framing, at, end: 'stall' as const })),
    ),
  ];
}

function spread(length: number, count: number): number[] {
  const positions = Math.min(length, count * MORE);
  return Array.from({ length: positions }, (_, index) => Math.floor((length * index) / positions));
}

/** A response as the server really sends it. Of one without end, the beginning. */
export async function sampleReply(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init);
  const headers = [...response.headers]
    .filter(([name]) => !/^(content-length|transfer-encoding|connection|keep-alive)$/.test(name))
    .map(([name, value]) => `${name}: ${value}`);
  const isEndless = headers.some((line) => line.includes('text/event-stream'));
  if (isEndless) await response.body?.cancel();
  const body = isEndless ? Buffer.from('event: heartbeat\ndata: {}\n\n') : Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers, body };
}
