import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';
import { onTestFinished } from 'vitest';

/* Clients of the services that every gRPC server is expected to have, made from their own definitions. */

interface HealthResponse {
  status: string;
}

interface HealthClient extends Client {
  check(request: { service: string }, done: (error: ServiceError | null, response?: HealthResponse) => void): void;
  watch(request: { service: string }): ClientReadableStream<HealthResponse>;
}

export interface ReflectionResponse {
  listServicesResponse?: { service: { name: string }[] };
  fileDescriptorResponse?: { fileDescriptorProto: Buffer[] };
  errorResponse?: { errorCode: number; errorMessage: string };
}

interface ReflectionClient extends Client {
  serverReflectionInfo(metadata: Metadata): ClientDuplexStream<object, ReflectionResponse>;
}

const REFLECTION = join(
  dirname(createRequire(import.meta.url).resolve('@grpc/reflection')),
  '../proto/grpc/reflection/v1/reflection.proto',
);

function connectTo<T extends Client>(proto: string, path: readonly string[], port: number): T {
  const root: unknown = loadPackageDefinition(loadSync(proto, { enums: String }));
  const service = path.reduce((scope, name) => (scope as Record<string, unknown>)[name], root);
  const Service = service as ServiceClientConstructor;
  const channel: ChannelCredentials = credentials.createInsecure();
  const client = new Service(`127.0.0.1:${port}`, channel) as unknown as T;
  onTestFinished(() => client.close());
  return client;
}

export function healthClient(port: number): HealthClient {
  return connectTo(protoPath, ['grpc', 'health', 'v1', 'Health'], port);
}

export function checkHealth(port: number, service = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    healthClient(port).check({ service }, (error, response) =>
      error ? reject(error) : resolve(response?.status ?? ''),
    );
  });
}

/** An open reflection stream; `token` as a client would send it. */
export function openReflection(port: number, token?: string): ClientDuplexStream<object, ReflectionResponse> {
  const client = connectTo<ReflectionClient>(REFLECTION, ['grpc', 'reflection', 'v1', 'ServerReflection'], port);
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  return client.serverReflectionInfo(metadata);
}

/** One reflection request. */
export function reflect(port: number, request: object, token?: string): Promise<ReflectionResponse> {
  return new Promise((resolve, reject) => {
    const call = openReflection(port, token);
    call.on('error', reject);
    call.on('data', (response) => {
      call.end();
      resolve(response);
    });
    call.write(request);
  });
}
