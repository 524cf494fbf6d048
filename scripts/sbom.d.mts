/** Text by file name. */
export function billsOfMaterials(env?: { SOURCE_DATE_EPOCH?: string }): Map<string, string>;
