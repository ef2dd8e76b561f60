import process from 'node:process';

/** Debian's and everybody's `nobody`. */
const NOBODY = 65_534;

/**
 * Does something as a user who is not root: root may read and write everything. Only in a process of one thread at a
 * time that has JavaScript, as vitest's forks are.
 */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid!(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}
