import { join } from 'node:path';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader';
import { createClient } from '@porthole/client';
import { type BenchContext, ROOT } from '../context.ts';
import { createFollowedFile, FOLLOWED_FILE, runFollow } from '../follow-run.ts';
import { atLeast, below, type Group, type Row } from '../group.ts';
import { ensureLogFolder } from '../input-files.ts';
import { LINE_PATTERN } from '../line-writer.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { readTail } from '../reader.ts';
import { median, showNumber } from '../rounds.ts';

const MIB = 1024 ** 2;
const TAIL_BYTES = 64 * MIB;
const LEAST_GRPC_RATIO = 0.7;
const WINDOW_BYTES = 4 * MIB;

/** Reads by each transport, before the ones that count. */
const WARM_UP_READS = 3;
const READS_PER_ROUND = 5;

const LINES_PER_SECOND = 200;
const MOST_ADDED_MS = 5;

/** The same responses through other transports than plain HTTP: what gRPC and the SDK cost. */
export const transportsGroup: Group = {
  name: 'transports',
  needs: [],
  run: async (context) => [...(await tailRows(context)), ...(await followRows(context))],
};

/** One large tail at a time, by clients in this process, in turns. */
async function tailRows(context: BenchContext): Promise<Row[]> {
  const { dir, file } = await ensureLogFolder(context);
  const server = await startPorthole(context, dir);
  const { signal } = new AbortController();
  const sdk = createClient({ url: server.url });
  const port = await findGrpcPort(server);
  const [grpc, plainGrpc] = [
    openGrpcTails(port, { 'grpc-node.flow_control_window': WINDOW_BYTES }),
    openGrpcTails(port),
  ];
  const closeClients = () => [grpc, plainGrpc].forEach((client) => void client.close());
  context.cleanup.add(closeClients);
  const url = `${server.url}/api/v1/log/view?file=${file}&size=${TAIL_BYTES}`;
  const transports = {
    http: async () => (await readTail(url, { maxBytes: Number.MAX_SAFE_INTEGER, maxMs: 60_000, signal })).bytes,
    grpc: () => grpc.read(file, TAIL_BYTES),
    plainGrpc: () => plainGrpc.read(file, TAIL_BYTES),
    sdk: async () => {
      let bytes = 0;
      const { chunks } = await sdk.viewLog({ file, sizeBytes: TAIL_BYTES });
      for await (const chunk of chunks) bytes += chunk.length;
      return bytes;
    },
  };
  const names = Object.keys(transports) as (keyof typeof transports)[];
  const rates: Record<keyof typeof transports, number[]> = { http: [], grpc: [], plainGrpc: [], sdk: [] };
  const sizes = new Set<number>();
  for (const name of names) for (let n = 0; n < WARM_UP_READS; n++) sizes.add(await transports[name]());
  if (sizes.size !== 1) throw new Error(`the transports return different tails: ${[...sizes].join(', ')} bytes`);
  for (let round = 0; round < context.effort.rounds; round++) {
    context.log(`  tails, round ${round + 1} of ${context.effort.rounds}`);
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const startedAt = performance.now();
      let bytes = 0;
      for (let n = 0; n < READS_PER_ROUND; n++) bytes += await transports[name]();
      rates[name].push(bytes / MIB / ((performance.now() - startedAt) / 1000));
    }
  }
  closeClients();
  await server.stop();
  const row = (figure: string, name: keyof typeof rates): Row & { ratio: number } => ({
    figure: `${figure} of 64 MiB, MiB/s`,
    porthole: showNumber(median(rates[name])),
    against: `HTTP ${showNumber(median(rates.http))}`,
    ratio: median(rates[name]) / median(rates.http),
    rounds: `${rates[name].map(showNumber).join(', ')} against ${rates.http.map(showNumber).join(', ')}`,
  });
  const barred = (streamed: Row & { ratio: number }): Row => ({
    ...streamed,
    bar: atLeast(streamed.ratio, LEAST_GRPC_RATIO),
  });
  return [
    barred(row('tail through gRPC, window of 4 MiB,', 'grpc')),
    barred(row("tail through gRPC, grpc-js's own window of 64 KiB,", 'plainGrpc')),
    row('tail through the SDK', 'sdk'),
  ];
}

/** A follower of plain HTTP and one of the SDK receive the same lines of one file at the same time. */
async function followRows(context: BenchContext): Promise<Row[]> {
  const { followSeconds: seconds } = context.effort;
  context.log('  follow');
  const dir = context.tempDir();
  createFollowedFile(dir);
  const server = await startPorthole(context, dir);
  const leaving = new AbortController();
  context.cleanup.add(() => leaving.abort());
  const throughSdk = followBySdk(server, leaving.signal);
  const { latenciesMs } = await runFollow(context, {
    dir,
    server,
    followers: 1,
    linesPerSecond: LINES_PER_SECOND,
    seconds,
  });
  leaving.abort();
  const sdkMs = await throughSdk;
  await server.stop();
  if (sdkMs.length < latenciesMs.length)
    throw new Error(`the SDK received ${sdkMs.length} of ${latenciesMs.length} lines`);
  const addedMs = median(sdkMs) - median(latenciesMs);
  return [
    {
      figure: `follow ${LINES_PER_SECOND} lines/s for ${seconds} s through the SDK: added to the raw stream, p50 in ms`,
      porthole: showNumber(addedMs),
      against: `raw ${showNumber(median(latenciesMs))}, SDK ${showNumber(median(sdkMs))}`,
      bar: below(addedMs, MOST_ADDED_MS),
    },
  ];
}

/** From the write to the item in hand, of every line. */
async function followBySdk({ url }: PortholeServer, signal: AbortSignal): Promise<number[]> {
  const latenciesMs: number[] = [];
  const client = createClient({ url });
  for await (const items of client.followLogs({ file: FOLLOWED_FILE, start: 'end' }, { signal })) {
    const now = process.hrtime.bigint();
    for (const item of items) {
      if (item.type !== 'record') continue;
      const [[, , writtenNs] = []] = item.message.matchAll(LINE_PATTERN);
      if (writtenNs !== undefined) latenciesMs.push(Number(now - BigInt(writtenNs)) / 1e6);
    }
  }
  return latenciesMs;
}

async function findGrpcPort({ url }: PortholeServer): Promise<number> {
  return (await createClient({ url }).config()).node.grpcPort;
}

interface GrpcTails {
  /** Reads a tail to its end and throws it away; resolves to its bytes. */
  read(file: string, sizeBytes: number): Promise<number>;
  close(): void;
}

/**
 * A client as any program has it: grpc-js and the .proto file. HTTP/2 lets a stream send only as much as its window holds
 * before it hears from the client; grpc-js's has 64 KiB unless set otherwise.
 */
function openGrpcTails(port: number, options: { 'grpc-node.flow_control_window'?: number } = {}): GrpcTails {
  const service = loadSync(join(ROOT, 'proto/porthole/v1/node_state.proto'), { keepCase: true, longs: Number })[
    'porthole.v1.NodeStateService'
  ] as ServiceDefinition;
  const method = service.ViewLog;
  if (!method) throw new Error('the .proto file has no ViewLog');
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  return {
    read: (file, size) =>
      new Promise((resolve, reject) => {
        let bytes = 0;
        const { path, requestSerialize, responseDeserialize } = method;
        const call = client.makeServerStreamRequest(
          path,
          requestSerialize,
          responseDeserialize,
          { file, size },
          new Metadata(),
        );
        call.on('data', ({ chunk }: { chunk?: Uint8Array }) => {
          bytes += chunk?.length ?? 0;
        });
        call.on('end', () => resolve(bytes));
        call.on('error', reject);
      }),
    close: () => client.close(),
  };
}
