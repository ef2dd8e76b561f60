import type { FaultType } from '../../../fleet/faults/types.ts';
import type { NoticeKind } from '../../../platform/notices/types.ts';
import type { NewTopic } from './types.ts';

const faults = (...types: FaultType[]): NoticeKind[] => types.map((type) => `fault.${type}` as const);
const topic = (name: string, events: NoticeKind[]): NewTopic => ({ name, events });

/** Topics of a new team, so that its first group is useful at once. A team changes or deletes them as it likes. */
export const FIRST_TOPICS: readonly NewTopic[] = [
  topic('Outages', faults('router_offline', 'agent_offline')),
  topic('WAN', faults('wan_down', 'weak_signal')),
  topic(
    'Router health',
    faults(
      'high_cpu',
      'temperature',
      'voltage',
      'disk_nearly_full',
      'disk_failing',
      'clock_wrong',
      'power_supply_failed',
      'fan_failed',
      'hardware_failed',
      'poe_out_failed',
    ),
  ),
  topic('Failed jobs', ['job.failed', 'job.expired', 'job.unknown']),
];
