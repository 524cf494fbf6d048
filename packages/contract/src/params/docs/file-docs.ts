import type { FILE_ROWS, RANGE_ROWS, VIEW_ROWS } from '../file-parameters.ts';
import type { DocsOf } from '../parameter.ts';

const HTTP_HEADER = { absent: 'a header of HTTP' };
const RESUMED = { absent: 'the CLI resumes by itself' };

export const FILE_DOCS: DocsOf<typeof VIEW_ROWS | typeof FILE_ROWS | typeof RANGE_ROWS> = {
  requiredFile: {
    meaning: 'Name of the log file, as `/api/v1/log/list` returns it.',
    proto: 'file',
    cli: { absent: 'the WHERE argument names logs and files' },
  },
  size: {
    meaning: 'At most this many bytes, from the end; larger than the file: all of it.',
    proto: 'size',
    cli: { absent: '"porthole logs" prints records, not bytes' },
  },
  text: {
    meaning:
      '`true`: the uncompressed text of a compressed file, with secrets masked. Byte ranges then count in that text, as the offsets of records do.',
    proto: 'text',
    cli: { absent: '"porthole logs download" copies files as they are' },
  },
  Range: { meaning: 'One byte range, e.g. `bytes=-65536`.', proto: HTTP_HEADER, cli: RESUMED },
  'If-Range': { meaning: 'ETag or date that the range depends on.', proto: HTTP_HEADER, cli: RESUMED },
  'If-None-Match': { meaning: 'ETags the client already has.', proto: HTTP_HEADER, cli: RESUMED },
};
