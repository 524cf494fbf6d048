interface AdvisoryReport {
  notAsked?: string;
  problems: string[];
  notices: string[];
}

export function askAdvisories(root: string, env?: NodeJS.ProcessEnv): Promise<AdvisoryReport>;
