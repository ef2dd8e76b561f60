export const STATUSES = ['open', 'resolved', 'all'] as const;
const SEVERITIES = ['critical', 'warning', 'info'] as const;

/** What the address of the list of faults holds. */
export interface FaultsSearch {
  status?: (typeof STATUSES)[number];
  severity?: (typeof SEVERITIES)[number] | undefined;
}

export function readFaultsSearch({ status, severity }: Record<string, unknown>): FaultsSearch {
  return {
    ...(STATUSES.includes(status as 'open') ? { status: status as 'open' } : {}),
    ...(SEVERITIES.includes(severity as 'info') ? { severity: severity as 'info' } : {}),
  };
}
