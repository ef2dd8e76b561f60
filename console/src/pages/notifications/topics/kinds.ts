/** Kinds of facts that topics name, in the words of a network engineer. docs/notifications.md has the whole list. */

interface Kind {
  kind: string;
  words: string;
}

interface Sort {
  name: string;
  /** Matches every kind of it, also those of later versions. */
  all: string;
  kinds: readonly Kind[];
}

export const SORTS: readonly Sort[] = [
  {
    name: 'Faults',
    all: 'fault.*',
    kinds: [
      { kind: 'fault.router_offline', words: 'a router does not answer' },
      { kind: 'fault.agent_offline', words: 'an agent is away, with all its routers' },
      { kind: 'fault.wan_down', words: 'a way to the internet is down' },
      { kind: 'fault.weak_signal', words: 'weak mobile signal' },
      { kind: 'fault.temperature', words: 'too hot' },
      { kind: 'fault.voltage', words: 'voltage out of range' },
      { kind: 'fault.power_supply_failed', words: 'a power supply has failed' },
      { kind: 'fault.fan_failed', words: 'a fan has failed' },
      { kind: 'fault.hardware_failed', words: 'hardware has failed' },
      { kind: 'fault.poe_out_failed', words: 'power over Ethernet has failed' },
      { kind: 'fault.disk_failing', words: 'a disk is failing' },
      { kind: 'fault.disk_nearly_full', words: 'a disk is nearly full' },
      { kind: 'fault.high_cpu', words: 'high processor load' },
      { kind: 'fault.clock_wrong', words: 'a wrong clock' },
      { kind: 'fault.rebooted', words: 'a router has rebooted' },
      { kind: 'fault.move_requested', words: 'a router waits to change its agent' },
      { kind: 'fault.duplicate_serial', words: 'two routers with one serial number' },
      { kind: 'fault.devices_truncated', words: 'more devices than can be listed' },
    ],
  },
  {
    name: 'Jobs',
    all: 'job.*',
    kinds: [
      { kind: 'job.failed', words: 'a job has failed' },
      { kind: 'job.expired', words: 'a job has expired and never ran' },
      { kind: 'job.unknown', words: 'nobody knows what became of a job' },
      { kind: 'job.completed', words: 'a job is done' },
    ],
  },
  {
    name: 'Campaigns',
    all: 'campaign.*',
    kinds: [
      { kind: 'campaign.started', words: 'a campaign begins' },
      { kind: 'campaign.paused', words: 'a campaign is paused' },
      { kind: 'campaign.resumed', words: 'a campaign goes on' },
      { kind: 'campaign.canceled', words: 'a campaign is canceled' },
      { kind: 'campaign.aborted', words: 'a campaign has stopped itself' },
      { kind: 'campaign.completed', words: 'a campaign is done' },
    ],
  },
  {
    name: 'Forwards',
    all: 'forward.*',
    kinds: [
      { kind: 'forward.created', words: 'a forward is opened' },
      { kind: 'forward.lost', words: 'a forward has lost its target' },
      { kind: 'forward.closed', words: 'a forward has ended' },
    ],
  },
  { name: 'Configuration', all: 'config.*', kinds: [{ kind: 'config.changed', words: 'a configuration has changed' }] },
  { name: 'Agents', all: 'agent.*', kinds: [{ kind: 'agent.revoked', words: 'an agent is revoked' }] },
  {
    name: 'Control plane',
    all: 'server.*',
    kinds: [
      { kind: 'server.certificate', words: 'the certificate of the control plane expires soon' },
      { kind: 'server.disk', words: 'the disk of the control plane is nearly full' },
    ],
  },
];

export const EVERYTHING = '*';
const KINDS = new Map(SORTS.flatMap(({ kinds }) => kinds.map(({ kind, words }) => [kind, words] as const)));

/** Whether an event of a topic stands for this kind. */
export function covers(event: string, kind: string): boolean {
  return event === kind || (event.endsWith('*') && kind.startsWith(event.slice(0, -1)));
}

/** One event of a topic in words; one that is not known here stays as it is. */
export function eventWords(event: string): string {
  if (event === EVERYTHING) return 'everything';
  const sort = SORTS.find(({ all }) => all === event);
  return sort ? `everything about ${sort.name.toLowerCase()}` : (KINDS.get(event) ?? event);
}

/** What a topic is about: `a router does not answer, an agent is away`. */
export function eventsWords(events: readonly string[]): string {
  return events.length === 0 ? 'nothing yet' : events.map(eventWords).join(', ');
}

export function isKnown(event: string): boolean {
  return event === EVERYTHING || KINDS.has(event) || SORTS.some(({ all }) => all === event);
}
