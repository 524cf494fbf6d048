import {
  type CallOptions,
  type ConfigOptions,
  encodeConfig,
  encodeView,
  type FileRequest,
  type NodeConfig,
  PATHS,
} from '@porthole/contract';
import type { ByteStream, LogEntry, OpenLog } from '@porthole/logs/types';
import { bodyBytes } from './body-bytes.ts';
import { checkArguments, checkOptions } from './check-arguments.ts';
import type { ViewLogRequest } from './client.ts';
import { IDENTITY_ENCODING } from './client-options.ts';
import { decodeConfig, decodeLogList } from './decode-response.ts';
import type { ClientDeps } from './exchange.ts';
import { requestJson, sendRequest } from './send-request.ts';

/** The operations of the contract, and the bytes of files: always of one node. */
export class HttpContract {
  readonly #deps: ClientDeps;

  constructor(deps: ClientDeps) {
    this.#deps = deps;
  }

  async config({ format, ...options }: ConfigOptions = {}): Promise<NodeConfig> {
    checkOptions('config', { format, ...options });
    return requestJson({ path: PATHS.config, query: encodeConfig({ format }), ...options }, this.#deps, decodeConfig);
  }

  async listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    checkOptions('listLogs', options);
    return requestJson({ path: PATHS.logList, ...options }, this.#deps, decodeLogList);
  }

  async viewLog(request: ViewLogRequest, options: CallOptions = {}): Promise<ByteStream> {
    checkArguments('viewLog', request, options);
    const httpRequest = {
      path: PATHS.logView,
      query: encodeView(request),
      headers: IDENTITY_ENCODING,
      isPaced: true,
      awaitsBody: true,
      ...options,
    };
    // A newline may be added to the last line.
    const maxBytes = (request.sizeBytes ?? Number.POSITIVE_INFINITY) + 1;
    return bodyBytes(await sendRequest(httpRequest, this.#deps), { maxBytes });
  }

  async openLog(request: FileRequest, options: CallOptions = {}): Promise<OpenLog> {
    checkArguments('openLog', request, options);
    const { openRemoteLog } = await import('./remote-log.ts');
    return openRemoteLog(request, this.#deps, options.signal);
  }
}
