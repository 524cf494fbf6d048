import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer, type PackageDefinition } from '@grpc/proto-loader';
import type { MethodName } from './calls/calls.ts';
import { DESCRIPTOR_BASE64 } from './generated/descriptor.ts';
import { SERVICE_NAME } from './service-name.ts';

/** Names as in the .proto, numbers as numbers, every field there that has no presence of its own. */
const OPTIONS = { keepCase: true, longs: Number, enums: String, defaults: true };

/** The methods of the service with what writes and reads their messages. */
export type NodeStateDefinition = ServiceDefinition & Record<MethodName, MethodDefinition<object, object>>;

export function loadServiceDefinition(): NodeStateDefinition {
  const loaded = loadFileDescriptorSetFromBuffer(descriptorSet(), OPTIONS);
  return loaded[SERVICE_NAME] as unknown as NodeStateDefinition;
}

/**
 * What reflection tells. Made from the compiler's own descriptor: the one proto-loader writes anew has lost which fields
 * are optional.
 */
export function reflectedPackage(): PackageDefinition {
  const file = onlyFile(descriptorSet());
  return { [SERVICE_NAME]: { format: '', type: {}, fileDescriptorProtos: [file] } } as unknown as PackageDefinition;
}

function descriptorSet(): Buffer {
  return Buffer.from(DESCRIPTOR_BASE64, 'base64');
}

/** A set of one file is that file behind a tag and its length; there is no second one, because nothing is imported. */
function onlyFile(set: Buffer): Buffer {
  let start = 1;
  while (((set[start] ?? 0) & 0x80) !== 0) start++;
  return set.subarray(start + 1);
}
