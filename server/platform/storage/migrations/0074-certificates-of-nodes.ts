import type { Migration } from './types.ts';

/** One control plane tells of the certificates of all of them. */
function statements(): string[] {
  return ['alter table nodes add column certificate_ends_at bigint'];
}

export const certificatesOfNodes: Migration = { number: 74, name: 'certificates of nodes', expands: true, statements };
