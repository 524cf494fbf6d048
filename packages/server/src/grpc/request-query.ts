import { getRoute, type Parameter, type Query } from '@porthole/contract';
import { CLUSTER_ROUTES, METHOD_ROUTES } from './service-definition.ts';

/** Rows of the parameter table that have a field in a request message, by the name of the parameter. */
const ROWS: ReadonlyMap<string, { field: string; codec: Parameter['codec'] }> = new Map(
  [...Object.values(METHOD_ROUTES), ...Object.values(CLUSTER_ROUTES)]
    .flatMap((id) => getRoute(id).parameters)
    .flatMap(({ name, proto, codec }) => (typeof proto === 'string' ? [[name, { field: proto, codec }]] : [])),
);

interface Message {
  filter?: object | null | undefined;
  cluster?: object | null | undefined;
}

/**
 * The fields of a message, including those of its filter and of its scope, as the parameters of the same request over
 * HTTP: both are validated by the same parsers, with the same errors.
 */
export function toQuery(message: object & Message): Query {
  const fields: Readonly<Record<string, unknown>> = { ...message.filter, ...message.cluster, ...message };
  return {
    getAll(name) {
      const row = ROWS.get(name);
      const value = row && fields[row.field];
      if (value === undefined || value === null) return [];
      if (Array.isArray(value)) return value.map(String);
      return row?.codec.fromProto?.(value) ?? [String(value)];
    },
  };
}
