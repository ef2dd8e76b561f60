/** One page of a list, newest first: at most `limit` records older than `before`. */
export interface Page {
  limit: number;
  before: { at: number; id: string } | undefined;
}

/** What a list shows that was not asked for a page; also the most that one page shows. */
export const MAX_PAGE = 1000;
export const FIRST_PAGE: Page = { limit: MAX_PAGE, before: undefined };
