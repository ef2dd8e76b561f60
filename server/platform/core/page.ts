/** One page of a list, newest first: at most `limit` records older than `before`. */
export interface Page {
  limit: number;
  before: { at: number; id: string } | undefined;
}

/** The default page; its limit is also the maximum. */
export const MAX_PAGE = 1000;
export const FIRST_PAGE: Page = { limit: MAX_PAGE, before: undefined };
