/** What `/tool/e-mail` has sent. No mail leaves: it lies in the router's outbox, for a test to look at. */
export interface Mail {
  readonly to: string;
  readonly from: string;
  readonly server: string;
  readonly subject: string;
  readonly body: string;
  readonly files: readonly { readonly name: string; readonly size: number }[];
}
