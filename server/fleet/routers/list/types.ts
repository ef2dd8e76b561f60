import type { Among } from '../../../platform/core/list-page.ts';
import type { StateOfRouter } from '../../states/types.ts';

export type RouterSort = 'created_at' | 'identity' | 'model' | 'version' | 'state_since';

/** A bound on versions, by their keys (`versionKey`). */
export interface VersionBound {
  relation: 'in' | 'not in' | '=' | '<' | '<=' | '>' | '>=';
  from: string;
  /** The first key behind a series; only for `in` and `not in`. */
  below: string;
}

export interface RouterFilter {
  /** True: those that were removed, instead of the others. */
  removed?: boolean;
  sites: Among<string | null>;
  agents: Among<string | null>;
  models: Among;
  /** All of them hold. */
  versions: readonly VersionBound[];
  search?: string | undefined;
}

/** The routers in the wanted states, by id. States live in memory, so the database cannot be asked for them. */
export type StateFilter = ReadonlyMap<string, StateOfRouter>;
