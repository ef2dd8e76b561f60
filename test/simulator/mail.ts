/** Mails of `/tool/e-mail`. No mail leaves the simulator; tests read them here. */
export interface Mail {
  readonly to: string;
  readonly from: string;
  readonly server: string;
  readonly subject: string;
  readonly body: string;
  readonly files: readonly { readonly name: string; readonly size: number }[];
}
