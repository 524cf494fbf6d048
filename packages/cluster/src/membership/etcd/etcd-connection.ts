import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { Address } from '../member-url.ts';
import {
  type EtcdDefinition,
  loadEtcdDefinition,
  type MethodName,
  type MethodRequest,
  type MethodResponse,
} from './service-definition.ts';

/** One call; etcd answers in milliseconds when it is well. */
const CALL_TIMEOUT_MS = 2000;

/** An answer above this is refused; etcd itself takes values of at most 1.5 MB unless told otherwise. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

const CHANNEL_OPTIONS = {
  // etcd ends connections that ask more often than every 5 s.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  'grpc.max_receive_message_length': MAX_RESPONSE_BYTES,
  // Otherwise a channel waits for as long as an earlier one to the same address failed.
  'grpc.use_local_subchannel_pool': 1,
  // No TXT records are looked up for the name.
  'grpc.service_config_disable_resolution': 1,
};

/** PEM texts. */
export interface EtcdTls {
  /** Of the authority that signed etcd's certificate; the system's authorities unless given. */
  ca?: string;
  /** Where etcd wants one of its clients. */
  cert?: string;
  key?: string;
}

/** Functions are called for each session, and each time etcd wants the password: files may have changed. */
export interface EtcdAccess {
  user?: string;
  password?: string | (() => string);
  tls?: EtcdTls | (() => EtcdTls);
}

interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

/** One connection to one etcd, with a token where that wants a user. Whoever made it closes it. */
export class EtcdConnection {
  readonly #client: Client;
  readonly #definition: EtcdDefinition = loadEtcdDefinition();
  readonly #access: EtcdAccess;
  #metadata = createMetadata(undefined);

  /** Connects with the first call. */
  constructor(address: Address, access: EtcdAccess = {}) {
    const host = address.host.includes(':') ? `[${address.host}]` : address.host;
    this.#client = new Client(`${host}:${address.port}`, createCredentials(address, access), CHANNEL_OPTIONS);
    this.#access = access;
  }

  /** One question. Rejects with a ServiceError. A token that etcd no longer knows is replaced on the way. */
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

  /** Before the first call. Does nothing where there is no user, or etcd wants none. */
  async authenticate(options: CallOptions = {}): Promise<void> {
    const { user, password: given = '' } = this.#access;
    if (user === undefined) return;
    const password = typeof given === 'function' ? given() : given;
    try {
      const { token } = await this.#call('Authenticate', { name: user, password }, options);
      this.#metadata = createMetadata(token);
    } catch (error) {
      if (grpcCode(error) !== status.FAILED_PRECONDITION) throw error; // etcd runs without users
    }
  }

  /** Whoever opens it also cancels it. */
  openStream<Name extends 'Watch' | 'LeaseKeepAlive'>(
    name: Name,
  ): ClientDuplexStream<MethodRequest<Name>, MethodResponse<Name>> {
    const { path, requestSerialize, responseDeserialize } = this.#definition[name];
    const read = responseDeserialize as (bytes: Buffer) => MethodResponse<Name>;
    const stream = this.#client.makeBidiStreamRequest(path, requestSerialize, read, this.#metadata);
    stream.on('error', () => {}); // readers hear of it; one that comes after they have left must not end the process
    return stream;
  }

  close(): void {
    this.#client.close();
  }

  #call<Name extends MethodName>(
    name: Name,
    request: MethodRequest<Name>,
    { signal, timeoutMs = CALL_TIMEOUT_MS }: CallOptions,
  ): Promise<MethodResponse<Name>> {
    const { path, requestSerialize, responseDeserialize } = this.#definition[name];
    const read = responseDeserialize as (bytes: Buffer) => MethodResponse<Name>;
    const options = { deadline: Date.now() + timeoutMs };
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const call = this.#client.makeUnaryRequest(path, requestSerialize, read, request, this.#metadata, options, done);
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

/** The gRPC status of what a call failed with. */
export function grpcCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function createCredentials({ isTls }: Address, { tls: given }: EtcdAccess): ChannelCredentials {
  if (!isTls) return credentials.createInsecure();
  const tls = typeof given === 'function' ? given() : given;
  const bytes = (pem: string | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(tls?.ca), bytes(tls?.key), bytes(tls?.cert));
}

/** `hasleader`: a member of etcd that has lost the others says so, instead of being silent for ever. */
function createMetadata(token: string | undefined): Metadata {
  const metadata = new Metadata();
  metadata.set('hasleader', 'true');
  if (token !== undefined) metadata.set('token', token);
  return metadata;
}
