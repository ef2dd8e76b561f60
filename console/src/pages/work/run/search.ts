import type { Router } from '../../../../../client/browser.ts';

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
  return {
    ...text('routers'),
    ...text('q'),
    ...(Number(search['chosen']) > 0 ? { chosen: Number(search['chosen']) } : {}),
    ...text('command'),
    ...text('from'),
    ...(search['mode'] === 'script' ? { mode: 'script' } : {}),
  };
}

export interface Named {
  routers: readonly Router[];
  /** Names that no router has. */
  missing: readonly string[];
}

/** The router with this id or name. */
export function routerNamed(name: string, all: readonly Router[]): Router | undefined {
  const wanted = name.toLowerCase();
  return all.find(({ id }) => id === name) ?? all.find(({ identity }) => identity.toLowerCase() === wanted);
}

/** The routers that an address names, in its order. */
export function routersNamed(list: string, all: readonly Router[]): Named {
  const byId = new Map(all.map((router) => [router.id, router]));
  const byName = new Map(all.map((router) => [router.identity.toLowerCase(), router]));
  const names = [...new Set(list.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  const found = names.map((name) => byId.get(name) ?? byName.get(name.toLowerCase()));
  return {
    routers: [...new Set(found.filter((router) => router !== undefined))],
    missing: names.filter((_name, index) => found[index] === undefined),
  };
}
