import type { ArchivePart, MemberArchive } from '../cluster-state.ts';
import { exactObject, integer, nullableInteger, nullableText, ref } from './schema-builders.ts';

/** The field of responses that were read from the archive at least in part. */
export const archivePart = { archive: ref('ArchivePart') };

/** What responses say about the archive. */
export const ARCHIVE_SCHEMAS = {
  MemberArchive: exactObject<MemberArchive>(
    'What the archive has of a member; absent if the archive was not asked, or knows nothing of it.',
    {
      count: integer('Records of it in the response that came from the archive.'),
      beforeMs: nullableInteger(
        'Records before this time, epoch milliseconds by the clock of the member, came from the archive, and all others from its disk. Null: all came from the archive.',
      ),
      shippedFromMs: nullableInteger(
        'Start of the time range, by the clock of the member, of which all its records are in the archive. Null: nothing was shipped.',
      ),
      shippedToMs: nullableInteger('End of that range.'),
      lostBytes: integer('Bytes of records that were deleted on its disk before they could be shipped.'),
    },
  ),
  ArchivePart: exactObject<ArchivePart>(
    'Which part of the response came from the archive; absent if it was not asked.',
    {
      records: integer('Records, or records counted, that came from the archive.'),
      beforeMs: nullableInteger(
        'Records before this time, epoch milliseconds, came from the archive, except of members whose report has another time. Null: records of any time.',
      ),
      problem: nullableText('Why what the archive has is missing in the response; null if it is not.'),
    },
  ),
};
