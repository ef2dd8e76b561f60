import { numberWords } from '../../../parts/sizes.ts';

export const words = {
  title: 'Faults',
  router: 'Router',
  removed: 'removed',
  noneOpen: 'Nothing is wrong that the rules of health look for.',
  noMatch: 'No fault matches.',
  sentence: { none: 'No fault is open.', open: (count: number) => (count === 1 ? 'One fault is open.' : `${count} faults are open.`) },
  count: (count: number) => `${numberWords(count)} ${count === 1 ? 'fault' : 'faults'}`,
  countOver: (count: number) => `over ${numberWords(count)} faults`,
  status: { label: 'Status', open: 'Open', resolved: 'Resolved', all: 'All' },
  severity: { label: 'Severity', every: 'every', critical: 'critical', warning: 'warning', info: 'info' },
};
