import {
  type NodeState,
  parseFileRequest,
  parseLogFilesRequest,
  parseViewRequest,
  SizedBytes,
} from '@porthole/contract';
import { type OpenLog, plainName } from '@porthole/logs';
import { HttpRefusal } from '../response/problem-response.ts';
import {
  callOptions,
  evaluateConditions,
  jsonDocumentResponse,
  jsonListResponse,
  RepeatedJson,
  type RouteHandler,
  type RouteRequest,
  type RouteResponse,
  rangeStillHolds,
  TEXT_HEADERS,
  toStreamBody,
} from '../response/route-response.ts';
import type { Scope } from './scope.ts';

type LogRouteId = 'logList' | 'logFiles' | 'logView' | 'logRaw';

export function createLogRoutes(
  node: NodeState,
  scope: Scope,
  toOptions = callOptions,
): Record<LogRouteId, RouteHandler> {
  // Requests at the same time get the same list.
  const lists = new RepeatedJson();
  return {
    logList: async (request) => jsonListResponse(await node.listLogs(toOptions(request)), lists),
    logFiles: async (request) => {
      const { state, asked } = await scope.records(request, parseLogFilesRequest(request.query));
      return jsonDocumentResponse('files', await state.logFiles(asked, callOptions(request)));
    },
    logView: async (request) => {
      const stream = await node.viewLog(parseViewRequest(request.query), toOptions(request));
      return { status: 200, headers: TEXT_HEADERS, stream: toStreamBody(stream) };
    },
    logRaw: async (request) => {
      const { file, text = false } = parseFileRequest(request.query);
      const log = await node.openLog({ file, text }, toOptions(request));
      try {
        // A log in a directory below is saved by its path.
        const savedAs = (text ? plainName(log.name) : log.name).replaceAll('/', '_');
        return await rawResponse(log, request, savedAs);
      } catch (error) {
        await log.close();
        throw error;
      }
    },
  };
}

async function rawResponse(log: OpenLog, request: RouteRequest, savedAs: string): Promise<RouteResponse> {
  const { headers, method } = request;
  const validators = {
    etag: log.etag,
    'last-modified': new Date(log.modifiedMs).toUTCString(),
  };
  const verdict = evaluateConditions(headers, log);
  if (verdict === 'failed')
    throw new HttpRefusal('PRECONDITION_FAILED', `${JSON.stringify(log.name)} has changed`, validators);
  if (verdict === 'not-modified') {
    await log.close();
    return { status: 304, headers: validators, body: '' };
  }
  // Ranges are defined for GET alone (RFC 9110, 14.2).
  const takesRange = method === 'GET' && rangeStillHolds(headers['if-range']?.toString(), log);
  const range = takesRange ? parseByteRange(headers.range, log.sizeBytes) : undefined;
  if (range === 'unsatisfiable') {
    const message = `${JSON.stringify(log.name)} has ${log.sizeBytes} bytes`;
    throw new HttpRefusal('RANGE_NOT_SATISFIABLE', message, { 'content-range': `bytes */${log.sizeBytes}` });
  }
  const { start, end } = range ?? { start: 0, end: log.sizeBytes };
  return {
    status: range ? 206 : 200,
    headers: {
      ...validators,
      'accept-ranges': 'bytes',
      'content-type': 'application/octet-stream',
      'content-disposition': attachment(savedAs),
      ...(range && { 'content-range': `bytes ${start}-${end - 1}/${log.sizeBytes}` }),
    },
    stream: {
      chunks: new SizedBytes(end - start, log.read(start, end, callOptions(request))),
      close: () => log.close(),
    },
  };
}

/** The file's name for the client's disk: plain ASCII for old clients, the real one encoded (RFC 6266, RFC 8187). */
function attachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

/** The bytes `[start, end)` of a file. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * The range of a `Range` header. `undefined`: the header is ignored, as RFC 9110 demands for other units and invalid
 * syntax, and allows for several ranges. `'unsatisfiable'`: it lies outside the file.
 */
export function parseByteRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  if (!match) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') return suffixRange(Number(last), sizeBytes);
  const start = Number(first);
  const end = last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes);
  if (last !== '' && Number(last) < start) return undefined;
  return start < sizeBytes ? { start, end } : 'unsatisfiable';
}

function suffixRange(length: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { start: Math.max(0, sizeBytes - length), end: sizeBytes };
}
