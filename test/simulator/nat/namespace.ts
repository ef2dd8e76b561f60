/** A network namespace of the kernel, as far as a simulated router uses one. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TIMEOUT_MS = 10_000;
/** 50,000 connections. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface TrackedConnection {
  /** The original direction, as nftables writes a tuple. */
  tuple: string;
  source: string;
  destination: string;
  replySource: string;
  replyDestination: string;
  /** Of TCP: `established`. */
  state: string;
  timeoutSeconds: number;
  isAssured: boolean;
}

export interface RuleCount {
  packets: number;
  bytes: number;
}

export class Namespace {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** Loads a ruleset, whole or not at all. @throws Error with nft's words */
  async load(ruleset: string): Promise<void> {
    await this.#run(['nft', '-f', '-'], ruleset);
  }

  /** Counters by the comment of their rule; of one that is there twice, both together. */
  async counts(table: string): Promise<Map<string, RuleCount>> {
    const listed = await this.#run(['nft', '-j', 'list', 'table', 'ip', table]);
    const { nftables } = JSON.parse(listed) as { nftables: { rule?: { comment?: string; expr: { counter?: RuleCount }[] } }[] };
    const counts = new Map<string, RuleCount>();
    for (const { rule } of nftables) {
      const counter = rule?.expr.find((part) => part.counter)?.counter;
      if (rule?.comment === undefined || !counter) continue;
      const { packets = 0, bytes = 0 } = counts.get(rule.comment) ?? {};
      counts.set(rule.comment, { packets: packets + counter.packets, bytes: bytes + counter.bytes });
    }
    return counts;
  }

  /** The TCP connections that the kernel knows. */
  async connections(): Promise<TrackedConnection[]> {
    const listed = await this.#run(['cat', '/proc/net/nf_conntrack']);
    return listed.split('\n').flatMap((line) => readConnection(line) ?? []);
  }

  async #run(command: string[], input?: string): Promise<string> {
    const running = run('ip', ['netns', 'exec', this.#name, ...command], { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES });
    // A program that fails early stops reading; its exit says why.
    running.child.stdin?.on('error', () => undefined);
    running.child.stdin?.end(input);
    return (await running).stdout;
  }
}

const LINE =
  /^ipv4 +2 tcp +6 (\d+) (\w+) src=(\S+) dst=(\S+) sport=(\d+) dport=(\d+) (?:\[\w+\] )?src=(\S+) dst=(\S+) sport=(\d+) dport=(\d+)/;

/** A line of /proc/net/nf_conntrack; undefined for what is not TCP over IPv4. */
export function readConnection(line: string): TrackedConnection | undefined {
  const match = LINE.exec(line);
  if (!match) return undefined;
  const [
    ,
    timeout,
    state = '',
    source,
    destination,
    sourcePort,
    destinationPort,
    replySource,
    replyDestination,
    replySourcePort,
    replyDestinationPort,
  ] = match;
  return {
    tuple: `${source} . ${sourcePort} . ${destination} . ${destinationPort}`,
    source: `${source}:${sourcePort}`,
    destination: `${destination}:${destinationPort}`,
    replySource: `${replySource}:${replySourcePort}`,
    replyDestination: `${replyDestination}:${replyDestinationPort}`,
    state: state.toLowerCase().replaceAll('_', '-'),
    timeoutSeconds: Number(timeout),
    isAssured: line.includes('[ASSURED]'),
  };
}
