import type { Router } from '../../../../../client/browser.ts';

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
