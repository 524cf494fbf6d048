import type { Floors } from '../member.ts';
import { type Codec, choice, invalidParameter, many } from './codecs.ts';

/** Where records are read. */
export const recordStore = choice(['auto', 'nodes', 'archive']);

/** For more members than this, those with the same floor share `*`. */
const MAX_FLOORS = 1024;
const FLOOR = /^(?<id>\*|[A-Za-z0-9.:_-]{1,128})=(?<timeMs>-?\d{1,16})$/;

const floorTexts = many(
  { type: 'string', pattern: FLOOR.source },
  {
    max: MAX_FLOORS,
    check(value, label) {
      if (!FLOOR.test(value)) throw invalidParameter(label, value, 'ID=MS or *=MS, in epoch milliseconds');
    },
  },
);

/** Epoch ms by member id. */
export const floors: Codec<Floors> = {
  schema: floorTexts.schema,
  parse: (texts, label, context) => {
    const given = floorTexts.parse(texts, label, context);
    const entries = given?.map((value) => {
      const { id = '', timeMs = '' } = FLOOR.exec(value)?.groups ?? {};
      return [id, Number(timeMs)] as const;
    });
    return entries && Object.fromEntries(entries);
  },
  encode: (value) => Object.entries(value).map(([id, timeMs]) => `${id}=${Math.ceil(timeMs)}`),
};
