/** One page of a list, newest first: at most `limit` records older than `before`. */
export interface Page {
  limit: number;
  before: { at: number; id: string } | undefined;
}
