import type {
  ClusterDigest,
  ClusterFields,
  ClusterHistogram,
  ClusterState,
  ClusterTop,
  MemberSelection,
  SearchOptions,
} from '@porthole/contract';
import { mergeGroups } from '@porthole/logs';
import type { DigestQuery, FieldsQuery, HistogramQuery, TopQuery } from '@porthole/logs/types';
import type { ArchiveOptions } from '../ask/question.ts';
import type { ArchiveReader } from './archive-reader.ts';
import type { CountKind } from './count-sources.ts';
import { mergeAllFields, mergeHistograms, mergeTops } from './merge-counts.ts';

/* How each kind of count is asked for on both sides: for more than is returned, where what is frequent only in total must not be missed. */

export const MAX_GROUPS = 1000;
const MAX_FIELDS = 1000;
const MAX_VALUES = 10_000;

/** Where counts are made. */
export interface Sources {
  cluster: ClusterState;
  archive: ArchiveReader;
}

type Of<Query> = Query & MemberSelection;

export function histogramKind({ cluster, archive }: Sources): CountKind<Of<HistogramQuery>, ClusterHistogram> {
  return {
    ofMembers: (request, options) => cluster.logHistogram(request, options),
    ofArchive: (request, options) => archive.logHistogram(request, options),
    merge: mergeHistograms,
  };
}

export function digestKind(
  { cluster, archive }: Sources,
  { limit }: DigestQuery,
): CountKind<Of<DigestQuery>, ClusterDigest> {
  const widened = (request: Of<DigestQuery>) => ({ ...request, limit: Math.min(MAX_GROUPS, limit * 4) });
  return {
    ofMembers: (request, options) => cluster.logDigest(widened(request), options),
    ofArchive: (request, options) => archive.logDigest(widened(request), options),
    merge: (parts) => mergeGroups(parts, { limit }),
  };
}

export function fieldsKind(
  { cluster, archive }: Sources,
  { limit }: FieldsQuery,
): CountKind<Of<FieldsQuery>, ClusterFields> {
  return {
    ofMembers: (request, options) => cluster.logFields({ ...request, limit: MAX_FIELDS }, options),
    ofArchive: (request, options) => archive.logFields({ ...request, limit: MAX_FIELDS }, options),
    merge: (parts) => mergeAllFields(parts, { limit }),
  };
}

export function topKind(
  { cluster, archive }: Sources,
  { limit, values }: TopQuery,
): CountKind<Of<TopQuery>, ClusterTop> {
  const areGiven = values !== undefined;
  const widened = (request: Of<TopQuery>) => (areGiven ? request : { ...request, limit: MAX_VALUES });
  return {
    ofMembers: (request: Of<TopQuery>, options: SearchOptions) => cluster.logTop(widened(request), options),
    ofArchive: (request: Of<TopQuery>, options: ArchiveOptions) => archive.logTop(widened(request), options),
    merge: (parts) => mergeTops(parts, { limit, areGiven }),
  };
}
