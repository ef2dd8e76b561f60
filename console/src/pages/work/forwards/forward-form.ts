import type { NewTransientForward } from '../../../../../client/browser.ts';

/** Lengths that are offered: 10 minutes to a day, as docs/forwards.md allows. */
export const LENGTHS = [
  { value: '10', name: '10 minutes' },
  { value: '60', name: '1 hour' },
  { value: '240', name: '4 hours' },
  { value: '480', name: '8 hours' },
  { value: '1440', name: '1 day' },
] as const;
export type Minutes = (typeof LENGTHS)[number]['value'];

/** Ports that people want most. */
export const TARGETS = [
  { name: 'SSH', port: 22 },
  { name: 'WinBox', port: 8291 },
  { name: 'HTTPS', port: 443 },
  { name: 'PostgreSQL', port: 5432 },
] as const;

export interface ForwardDraft {
  address: string;
  port: string;
  /** Undefined: the person's own address. */
  from: string | undefined;
  minutes: Minutes;
}

export const EMPTY_FORWARD: ForwardDraft = { address: '', port: '', from: undefined, minutes: '60' };

/** Reads `ADDRESS:PORT` of an address. */
export function targetOf(to: string | undefined): Partial<ForwardDraft> {
  const [, address, port] = /^\[?(.*?)\]?:(\d+)$/.exec(to ?? '') ?? [];
  return address && port ? { address, port } : {};
}

/** The address at which the agent dials the router, as the target of a port of its own; undefined where that is a name, or not known. */
export function ownAddressOf(host: string | null = null): string | undefined {
  return host !== null && /^(?:[\d.]+|[\da-f.]*:[\da-f:.]+)$/i.test(host) ? host : undefined;
}

/** What is no number is sent as it is: the server names the field and the reason. */
export function forwardOf({ address, port, minutes }: ForwardDraft, from: string): NewTransientForward {
  const number = Number(port);
  return {
    dst_address: address.trim(),
    dst_port: Number.isNaN(number) || port.trim() === '' ? (port as unknown as number) : number,
    allow_from: from.trim(),
    expire_after_minutes: Number(minutes),
  };
}
