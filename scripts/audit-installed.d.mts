interface InstalledAudit {
  packages: number;
  problems: string[];
  unseen: string[];
}

export function auditInstalled(options: {
  root: string;
  tarballOf(integrity: string, name: string, version: string): Promise<Buffer | undefined>;
}): Promise<InstalledAudit>;
