import { FakeLindb } from '@porthole/cluster/testing';

/** The address of a node that only speaks the contract, with LinDB's ways. Ends with the test. */
export async function startLindbNode(
  files: Readonly<Record<string, string>>,
  config = '[monitor]\n## Default: "10s"\nreport-interval = "10s"\n',
): Promise<string> {
  const fake = await FakeLindb.start(files);
  fake.config = config;
  return fake.url;
}
