import { negotiateVersion } from '../../../protocol/index.ts';
import type { Hello, Ready, Welcome } from '../../../protocol/index.ts';
import type { AgentConnection } from '../core/agent-gateway.ts';
import type { CloseReason } from './closing.ts';
import type { AgentIdentity, TunnelCallbacks, TunnelSettings } from './types.ts';

/** Opens one session: hello is assigned an epoch, ready confirms it. */
export class Handshake {
  readonly #callbacks: TunnelCallbacks;
  readonly #settings: TunnelSettings;
  #journalId = '';
  #connection: AgentConnection | undefined;

  constructor(callbacks: TunnelCallbacks, settings: TunnelSettings) {
    this.#callbacks = callbacks;
    this.#settings = settings;
  }

  /** Set once the epoch was raised; from then on the end of the session must be recorded. */
  get connection(): AgentConnection | undefined {
    return this.#connection;
  }

  /** @returns the welcome to send, or why the agent is rejected */
  async greet(identity: AgentIdentity, address: string, hello: Hello): Promise<Welcome | CloseReason> {
    const version = negotiateVersion(hello.versions);
    if (version === undefined) return 'version';
    const { agentId, teamId, credential } = identity;
    const begun = await this.#callbacks.beginSession({ agentId, credential, hello, address });
    if (!begun) return 'revoked';
    const { epoch, reset } = begun;
    this.#journalId = hello.journal_id;
    this.#connection = { agentId, teamId, epoch, address, reset, routers: hello.routers };
    const { heartbeatMs, silenceMs, reconnectSpreadMs } = this.#settings;
    const spread = reconnectSpreadMs && { reconnect_spread_ms: reconnectSpreadMs() };
    const settings = { heartbeat_ms: heartbeatMs, silence_ms: silenceMs, ...spread };
    return { type: 'welcome', version, agent_id: agentId, epoch, reset, settings };
  }

  /** @returns the connection, or why it is closed */
  async confirm(ready: Ready): Promise<AgentConnection | CloseReason> {
    const connection = this.#connection;
    if (!connection) return 'protocol';
    const { agentId, epoch, reset } = connection;
    // A reset requires a fresh journal; otherwise it must be the one of hello.
    const sameJournal = ready.journal_id === this.#journalId;
    if (ready.epoch !== epoch || sameJournal === reset) return 'protocol';
    return (await this.#callbacks.confirmSession(agentId, epoch, ready.journal_id)) ? connection : 'replaced';
  }
}
