/** What makes the rules of /ip/firewall/nat forward: sockets of this process, or the kernel of a network namespace. */
export interface Nat {
  start(): void;
  /** Resolves when every change of a rule made so far has taken effect. */
  settled(): Promise<void>;
  /** Brings counters and /ip/firewall/connection up to date, where they are not kept so anyway. */
  observe(): Promise<void>;
  /** Stops forwarding and cuts forwarded connections. */
  stop(): Promise<void>;
}
