/** What the control plane pushes, encrypted for one browser. */
export interface PushedMessage {
  title?: string;
  lines?: readonly string[];
  rows?: readonly string[];
  /** Of the thread. */
  tag?: string;
  /** Of the page about it. */
  url?: string;
  locale?: string;
}
