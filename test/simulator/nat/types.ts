/** What makes the rules of /ip/firewall/nat forward: sockets of this process, or the kernel of a network namespace. */
export interface Nat {
  start(): void;
  /** Resolves when every change of a rule made so far has taken effect. */
  settled(): Promise<void>;
  /** Brings counters and /ip/firewall/connection up to date, where they are not kept so anyway. */
  observe(): Promise<void>;
  /** Nothing is forwarded any more, and what was forwarded is cut. */
  stop(): Promise<void>;
}
