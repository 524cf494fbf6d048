import { FILTER_ROWS, formatDefault, getRoute, type Parameter, PortholeError, type RouteId } from '@porthole/contract';
import type { FlagDefinition } from './command-definition.ts';
import { checkWholeNumber } from './flag-checks.ts';
import type { Invocation } from './invocation.ts';

/* Flags that are parameters of a route: name, value, help and default come from the parameter table of the contract. */

/** The filters, which all requests about records take. */
export const FILTERS: readonly Parameter[] = getRoute('logSearch').parameters.filter(({ name }) =>
  FILTER_ROWS.some((row) => row.name === name),
);

/** Flags of a route's parameters, in this order. `own` replaces what is different on the command line. */
export function parameterFlags(
  route: RouteId,
  names: readonly string[],
  own: Partial<FlagDefinition> = {},
): FlagDefinition[] {
  const flags = getRoute(route).parameters.flatMap(toFlag);
  return names.map((name) => {
    const flag = flags.find(({ long }) => long === name);
    if (flag === undefined) throw new Error(`no parameter of the route ${route} has the flag --${name}`);
    return { ...flag, ...own };
  });
}

/** None where the parameter has no flag. */
export function toFlag(parameter: Parameter): FlagDefinition[] {
  const { cli, codec } = parameter;
  if ('absent' in cli) return [];
  const { on: _on, default: ownDefault, ...flag } = cli;
  if (flag.value === undefined) return [flag];
  const { type, values, repeated } = codec.schema;
  const byDefault = ownDefault ?? formatDefault(parameter);
  return [
    {
      ...flag,
      ...(values && { choices: values, check: (text: string) => notAccepted(parameter, text) }),
      ...(repeated && { many: true }),
      ...(type === 'integer' && { check: checkWholeNumber }),
      ...(byDefault && { default: byDefault }),
    },
  ];
}

/** Codecs also accept other names of their values, such as "warning" for "warn". */
function notAccepted({ codec, name }: Parameter, text: string): string | undefined {
  try {
    codec.parse([text], name, {});
    return undefined;
  } catch (error) {
    if (!(error instanceof PortholeError)) throw error;
    return `${error.message.replace(/^.*: expected/s, 'Expected')}.`;
  }
}

/** The flags on a command line as the parameters of a request, and what errors call these. */
export function readParameters(invocation: Invocation, parameters: readonly Parameter[]) {
  const findFlag = (name: string) => {
    const cli = parameters.find((row) => row.name === name)?.cli;
    return cli === undefined || 'absent' in cli ? undefined : cli;
  };
  return {
    query: {
      getAll(name: string): string[] {
        const flag = findFlag(name);
        if (flag === undefined) return [];
        const given = invocation.given[flag.long];
        if (typeof given === 'boolean') return given ? [flag.on ?? 'true'] : [];
        return given === undefined ? [] : [given].flat();
      },
    },
    label: ({ name }: Pick<Parameter, 'name'>) => `--${findFlag(name)?.long ?? name}`,
  };
}
