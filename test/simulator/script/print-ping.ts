import type { Row } from '../menu/types.ts';

/** What `/ping` prints: a heading, a line per answer, then the sums of the last one. */
export const pingHead = '  SEQ HOST                                     SIZE TTL TIME       STATUS\r\n';

export function pingLine(row: Row): string {
  const value = (name: string): string => row.get(name) ?? '';
  const cells = [
    value('seq').padStart(5),
    value('host').padEnd(40),
    value('size').padStart(4),
    value('ttl').padStart(3),
    value('time').padEnd(10),
    value('status'),
  ];
  return `${cells.join(' ').trimEnd()}\r\n`;
}

export function pingSums(last: Row): string {
  const names = ['sent', 'received', 'packet-loss', 'min-rtt', 'avg-rtt', 'max-rtt'].filter((name) => last.has(name));
  return `    ${names.map((name) => `${name}=${last.get(name) ?? ''}${name === 'packet-loss' ? '%' : ''}`).join(' ')}\r\n`;
}
