/** What the address of a page that runs something holds. */
export interface RunSearch {
  /** Ids of routers, or names, with commas between them. */
  routers?: string;
  /** A filter instead: every router that it matches when the work is sent. */
  q?: string;
  /** How many routers a selection had that the address does not name (`chosen.ts`). */
  chosen?: number;
  mode?: 'script';
  /** A command to begin with. */
  command?: string;
  /** `ROUTER/JOB`: a job whose script is to be run again. */
  from?: string;
}

export function readRunSearch(search: Record<string, unknown>): RunSearch {
  const text = (name: 'routers' | 'q' | 'command' | 'from'): object => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? { [name]: value } : {};
  };
  const chosen = Number(search['chosen']);
  return {
    ...text('routers'),
    ...text('q'),
    ...(Number.isSafeInteger(chosen) && chosen > 0 ? { chosen } : {}),
    ...text('command'),
    ...text('from'),
    ...(search['mode'] === 'script' ? { mode: 'script' } : {}),
  };
}
