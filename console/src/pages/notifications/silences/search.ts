/** What the address of the silences holds: the form for a new one is open when it names a router, a site or the team. */
export interface SilencesSearch {
  router?: string;
  site?: string;
}

export function readSilencesSearch({ router, site }: Record<string, unknown>): SilencesSearch {
  if (typeof router === 'string' && router !== '') return { router };
  return typeof site === 'string' && site !== '' ? { site } : {};
}
