import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
// owner: streams have a listener from birth, calls a callback and a deadline
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import type { Address } from '../member-address.ts';
import type { EtcdAccess } from './etcd-access.ts';
import { DESCRIPTOR_BASE64 } from './generated/descriptor.ts';
import type { AuthMethods, KVMethods, LeaseMethods, WatchMethods } from './generated/messages.ts';

/** Per call; a healthy etcd responds within milliseconds. */
const CALL_TIMEOUT_MS = 2000;

/** Maximum response size; by default etcd accepts values up to 1.5 MB. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

const CHANNEL_OPTIONS = {
  // etcd closes connections that ping more often than every 5 s.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  'grpc.max_receive_message_length': MAX_RESPONSE_BYTES,
  // Otherwise a channel inherits the backoff of an earlier one to the same address.
  'grpc.use_local_subchannel_pool': 1,
  // Skips the TXT lookup.
  'grpc.service_config_disable_resolution': 1,
};

/**
 * An address must not be sent as the server name of TLS (RFC 6066), and gRPC always sends one: Node.js warns of it (DEP0123).
 * No server knows this name, so that each shows the certificate that it has for clients without one.
 */
const NO_SERVER_NAME = { 'grpc.ssl_target_name_override': 'etcd.invalid' };

/** Names as in the .proto; 64-bit numbers as strings, because lease ids need all digits. */
const OPTIONS = { keepCase: true, longs: String, enums: String, defaults: true };

const SERVICES = ['KV', 'Watch', 'Lease', 'Auth'];

interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

/** A connection to one etcd, authenticated if it has users. The creator closes it. */
export class EtcdConnection {
  readonly #client: Client;
  readonly #definition: EtcdDefinition = loadEtcdDefinition();
  readonly #access: EtcdAccess;
  #metadata = createMetadata(undefined);

  /** Connects with the first call. */
  constructor(address: Address, access: EtcdAccess = {}) {
    const host = address.host.includes(':') ? `[${address.host}]` : address.host;
    const options = isIP(address.host) === 0 ? CHANNEL_OPTIONS : { ...CHANNEL_OPTIONS, ...NO_SERVER_NAME };
    this.#client = new Client(`${host}:${address.port}`, createCredentials(address, access), options);
    this.#access = access;
  }

  /** A unary call. Rejects with a ServiceError. An expired token is renewed transparently. */
  async call<Name extends MethodName>(
    name: Name,
    request: MethodRequest<Name>,
    options: CallOptions = {},
  ): Promise<MethodResponse<Name>> {
    try {
      return await this.#call(name, request, options);
    } catch (error) {
      if (this.#access.user === undefined || grpcCode(error) !== status.UNAUTHENTICATED) throw error;
      await this.authenticate(options);
      return this.#call(name, request, options);
    }
  }

  /** Call it before the first call. Does nothing without a user, or if authentication is disabled. */
  async authenticate(options: CallOptions = {}): Promise<void> {
    const { user, password: given = '' } = this.#access;
    if (user === undefined) return;
    const password = typeof given === 'function' ? given() : given;
    try {
      // Without a token: an etcd that was restarted may refuse even this call with one that it does not know.
      const withoutToken = { ...options, metadata: createMetadata(undefined) };
      const { token } = await this.#call('Authenticate', { name: user, password }, withoutToken);
      this.#metadata = createMetadata(token);
    } catch (error) {
      if (grpcCode(error) !== status.FAILED_PRECONDITION) throw error; // authentication is disabled
    }
  }

  /** The caller cancels it. */
  openStream<Name extends 'Watch' | 'LeaseKeepAlive'>(
    name: Name,
  ): ClientDuplexStream<MethodRequest<Name>, MethodResponse<Name>> {
    const { path, requestSerialize, responseDeserialize } = this.#definition[name];
    const read = responseDeserialize as (bytes: Buffer) => MethodResponse<Name>;
    const stream = this.#client.makeBidiStreamRequest(path, requestSerialize, read, this.#metadata);
    stream.on('error', () => {}); // readers get it; a late one must not crash the process
    return stream;
  }

  close(): void {
    this.#client.close();
  }

  #call<Name extends MethodName>(
    name: Name,
    request: MethodRequest<Name>,
    { signal, timeoutMs = CALL_TIMEOUT_MS, metadata = this.#metadata }: CallOptions & { metadata?: Metadata },
  ): Promise<MethodResponse<Name>> {
    const { path, requestSerialize, responseDeserialize } = this.#definition[name];
    const read = responseDeserialize as (bytes: Buffer) => MethodResponse<Name>;
    const options = { deadline: Date.now() + timeoutMs }; // clock: the deadline of a call, as the library wants it
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const call = this.#client.makeUnaryRequest(path, requestSerialize, read, request, metadata, options, done);
      const cancel = (): void => call.cancel();
      signal?.addEventListener('abort', cancel, { once: true });
      function done(error: ServiceError | null, response?: MethodResponse<Name>): void {
        signal?.removeEventListener('abort', cancel);
        if (response === undefined) reject(error);
        else resolve(response);
      }
    });
  }
}

/** The gRPC status of an error. */
export function grpcCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function createCredentials({ isTls, host }: Address, { tls: given }: EtcdAccess): ChannelCredentials {
  if (!isTls) return credentials.createInsecure();
  const tls = typeof given === 'function' ? given() : given;
  const bytes = (pem: string | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(tls?.ca), bytes(tls?.key), bytes(tls?.cert), {
    // The certificate must be for the address, whatever name was sent.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  });
}

/** `hasleader`: an etcd member without quorum fails instead of staying silent forever. */
function createMetadata(token: string | undefined): Metadata {
  const metadata = new Metadata();
  metadata.set('hasleader', 'true');
  if (token !== undefined) metadata.set('token', token);
  return metadata;
}

/** The messages of a stream until it ends, fails or the signal aborts. Closes the stream afterwards. */
export async function* readStream<Request, Answer>(
  stream: ClientDuplexStream<Request, Answer>,
  signal: AbortSignal,
): AsyncGenerator<Answer, void, undefined> {
  const cancel = (): void => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    yield* stream as AsyncIterable<Answer>;
  } catch (error) {
    signal.throwIfAborted(); // more specific than "cancelled"
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

type Methods = KVMethods & LeaseMethods & AuthMethods & WatchMethods;

export type MethodName = keyof Methods;
/** Absent fields have their zero value. */
export type MethodRequest<Name extends MethodName> = Partial<Methods[Name]['request']>;
export type MethodResponse<Name extends MethodName> = Methods[Name]['response'];

/** The methods in use with their serializers. */
export type EtcdDefinition = Readonly<Record<MethodName, MethodDefinition<object, object>>>;

export function loadEtcdDefinition(): EtcdDefinition {
  const loaded = loadFileDescriptorSetFromBuffer(Buffer.from(DESCRIPTOR_BASE64, 'base64'), OPTIONS);
  const services = SERVICES.map((name) => loaded[`etcdserverpb.${name}`]);
  return Object.assign({}, ...services) as EtcdDefinition;
}
