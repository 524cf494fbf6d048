import { isSameFile, type NodeState, PortholeError, parseFileRequest, parseViewRequest } from '@porthole/contract';
import type { OpenLog } from '@porthole/logs';
import type { ReadLogRequestMessage } from '../generated/messages.ts';
import { fileMessage, statMessage } from '../messages/log-messages.ts';
import { toQuery } from '../request-query.ts';
import type { Calls } from './calls.ts';
import { inMessageParts } from './message-parts.ts';

type LogMethod = 'ListLogs' | 'DescribeLogs' | 'StatLog' | 'ViewLog' | 'ReadLog';

export function createLogCalls(node: NodeState): Pick<Calls, LogMethod> {
  return {
    ListLogs: async (_request, options) => ({ logs: await node.listLogs(options) }),
    DescribeLogs: async (_request, options) => ({ logs: (await node.logFiles(options)).map(fileMessage) }),
    StatLog: async (request, options) => {
      const log = await node.openLog(parseFileRequest(toQuery(request)), options);
      await log.close();
      return statMessage(log);
    },
    async *ViewLog(request, options) {
      const { sizeBytes, chunks, close } = await node.viewLog(parseViewRequest(toQuery(request)), options);
      try {
        yield { size_bytes: sizeBytes, chunk: NOTHING };
        for await (const chunk of inMessageParts(chunks)) yield { chunk };
      } finally {
        await close();
      }
    },
    async *ReadLog(request, options) {
      const log = await node.openLog(parseFileRequest(toQuery(request)), options);
      try {
        const { start, end } = checkRange(log, request);
        yield { stat: statMessage(log), chunk: NOTHING };
        for await (const chunk of inMessageParts(log.read(start, end, options))) yield { chunk };
      } finally {
        await log.close();
      }
    },
  };
}

const NOTHING = new Uint8Array();

function checkRange(log: OpenLog, request: ReadLogRequestMessage): { start: number; end: number } {
  const { start, etag } = request;
  const end = request.end ?? log.sizeBytes;
  const name = JSON.stringify(log.name);
  if (etag !== '' && !isSameFile(etag, log.etag))
    throw new PortholeError('PRECONDITION_FAILED', `${name} has changed: its entity tag is no longer ${etag}`);
  if (start < 0 || start > end || end > log.sizeBytes)
    throw new PortholeError('RANGE_NOT_SATISFIABLE', `${name} has ${log.sizeBytes} bytes`);
  return { start, end };
}
