/** The lists whose filters can be saved. */
export const VIEWED_LISTS = ['routers', 'jobs', 'faults', 'forwards', 'backups', 'devices'] as const;
export type ViewedList = (typeof VIEWED_LISTS)[number];

/** A saved filter of a list. */
export interface SavedView {
  id: string;
  teamId: string;
  /** Whose it is; null for the team's. */
  userId: string | null;
  list: ViewedList;
  name: string;
  /** Parameters of the list. */
  query: Record<string, string>;
  createdAt: number;
  updatedAt: number;
}

export type NewView = Pick<SavedView, 'list' | 'name' | 'query'> & { isShared: boolean };

export interface ViewChange {
  name?: string | undefined;
  query?: Record<string, string> | undefined;
}
