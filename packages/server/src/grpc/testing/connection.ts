import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientReadableStream,
  credentials,
  type CallOptions as GrpcCallOptions,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { type CallOptions, isErrorCode, PortholeError } from '@porthole/contract';
import type { NodeStateServiceMethods } from '../generated/messages.ts';
import { loadServiceDefinition, type MethodName } from '../service-definition.ts';

type MethodRequest<Name extends MethodName> = NodeStateServiceMethods[Name]['request'];
type MethodResponse<Name extends MethodName> = NodeStateServiceMethods[Name]['response'];

export interface ConnectOptions {
  token?: string;
  channel?: ChannelCredentials;
  options?: ChannelOptions;
}

/** Made once: writing and reading messages is compiled anew with each. */
const DEFINITION = loadServiceDefinition();

/** Asks a node over gRPC, method by method. What goes wrong is a `PortholeError`. */
export class Connection {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(port: number, { token, channel = credentials.createInsecure(), options = {} }: ConnectOptions = {}) {
    this.#client = new Client(`127.0.0.1:${port}`, channel, options);
    if (token !== undefined) this.#metadata.set('authorization', `Bearer ${token}`);
  }

  call<Name extends MethodName>(
    name: Name,
    request: MethodRequest<Name>,
    { signal, ...options }: CallOptions & GrpcCallOptions = {},
  ): Promise<MethodResponse<Name>> {
    const { path, requestSerialize, responseDeserialize } = DEFINITION[name];
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata,
        options,
        (error, response) =>
          error
            ? reject(signal?.aborted ? signal.reason : toPortholeError(error))
            : resolve(response as MethodResponse<Name>),
      );
      onAbort(signal, () => call.cancel());
    });
  }

  /** The stream itself, for who wants to read it in its own way. */
  open<Name extends MethodName>(
    name: Name,
    request: MethodRequest<Name>,
    options: GrpcCallOptions = {},
  ): ClientReadableStream<MethodResponse<Name>> {
    const { path, requestSerialize, responseDeserialize } = DEFINITION[name];
    return this.#client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize as (bytes: Buffer) => MethodResponse<Name>,
      request,
      this.#metadata,
      options,
    );
  }

  /** `undefined` once the request was accepted, then the messages. Leaving the loop cancels the call. */
  async *stream<Name extends MethodName>(
    name: Name,
    request: MethodRequest<Name>,
    { signal }: CallOptions = {},
  ): AsyncGenerator<MethodResponse<Name> | undefined> {
    signal?.throwIfAborted();
    const call = this.open(name, request);
    call.on('error', () => {}); // seen by who waits for the next message; there may be no one at the moment
    const release = onAbort(signal, () => call.cancel());
    try {
      await accepted(call);
      yield undefined;
      for await (const message of call) yield message as MethodResponse<Name>;
    } catch (error) {
      signal?.throwIfAborted();
      throw toPortholeError(error as ServiceError);
    } finally {
      release();
      call.cancel();
    }
  }

  close(): void {
    this.#client.close();
  }
}

function accepted(call: ClientReadableStream<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    call.once('error', reject);
    call.once('metadata', () => {
      call.off('error', reject);
      resolve();
    });
  });
}

/** What a failed call throws: with the code of the node, or that of a client that got none. */
export function toPortholeError(error: ServiceError): PortholeError {
  const [code] = error.metadata?.get('porthole-code') ?? [];
  return new PortholeError(isErrorCode(code) ? code : 'UNREACHABLE', error.details, { cause: error });
}

function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted) act();
  signal?.addEventListener('abort', act, { once: true });
  return () => signal?.removeEventListener('abort', act);
}
