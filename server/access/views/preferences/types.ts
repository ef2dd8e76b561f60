/** What a person has set in the application. Only the application knows what is in it. */
export interface Preferences {
  content: Record<string, unknown>;
  /** Rises with each change; 0: nothing was ever set. */
  version: number;
}
