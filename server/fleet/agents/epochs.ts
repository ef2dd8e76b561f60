import type { Hello } from '../../../protocol/index.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { Gathered } from '../../platform/core/gathered.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { mustReset } from './journal-trust.ts';
import { confirmEpochs, raiseEpochs, recordDisconnects, selectHolder } from './store.ts';
import type { ConfirmedEpoch, EndedEpoch, NewConnection } from './store.ts';
import type { AssignedEpoch, KnownEpoch } from './types.ts';

/** Agents whose epochs change in one transaction: at most three statements, about a millisecond. */
const AT_ONCE = 200;

type Change = ({ kind: 'raise' } & NewConnection) | ({ kind: 'confirm' } & ConfirmedEpoch) | ({ kind: 'end' } & EndedEpoch);

/** Of `raise`: undefined when the agent is not accepted. Of `confirm`: whether it counts. */
type Changed = KnownEpoch | boolean | undefined;

/** Epochs of agents in the database. A newer epoch makes an older connection harmless on every node. */
export class AgentEpochs {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #nodeId: string | undefined;
  /** One transaction at a time: two with the same agents in different orders would block each other. */
  readonly #changes: Gathered<Change, Changed>;

  /**
   * @param agentsApartMs how far transactions are apart when many agents connect (AGENTS_APART_MS)
   * @param nodeId this control plane, where several serve the database
   */
  constructor(storage: Storage, clock: Clock, agentsApartMs = 0, nodeId?: string) {
    this.#nodeId = nodeId;
    this.#storage = storage;
    this.#clock = clock;
    this.#changes = new Gathered({
      most: AT_ONCE,
      apartMs: agentsApartMs,
      run: (changes) => this.#write(changes),
      keyOf: ({ agentId }) => agentId,
    });
  }

  /** Assigns an epoch to the connection. Undefined: the agent is unknown or revoked, or its credential was replaced. */
  async assign({ agentId, credential, hello }: { agentId: string; credential: string; hello: Hello }): Promise<AssignedEpoch | undefined> {
    const connection = { agentId, credential, version: hello.agent_version, lastEpoch: hello.last_epoch };
    const known = await this.#changes.call({ kind: 'raise', ...connection });
    if (typeof known !== 'object') return undefined;
    const journal = { journalId: hello.journal_id, lastEpoch: hello.last_epoch };
    return { epoch: known.epoch, reset: mustReset(journal, known) };
  }

  /** The agent has stored the epoch on disk. False: another connection is newer. */
  async confirm(agentId: string, epoch: number, journalId: string): Promise<boolean> {
    return (await this.#changes.call({ kind: 'confirm', agentId, epoch, journalId, now: this.#clock.now() })) === true;
  }

  /** The control plane that has the agent's tunnel as far as the database knows: it may have died, or just have lost it. */
  holder(agentId: string): Promise<string | undefined> {
    return selectHolder(this.#storage.db, agentId);
  }

  /** Records when the connection with this epoch ended. */
  async end(agentId: string, epoch: number): Promise<void> {
    await this.#changes.call({ kind: 'end', agentId, epoch, now: this.#clock.now() });
  }

  /** Call it when every tunnel has ended. Resolves when all changes so far are stored. */
  stop(): Promise<void> {
    return this.#changes.stop();
  }

  /** @returns the results in the order of the changes, which are of different agents */
  async #write(changes: readonly Change[]): Promise<Changed[]> {
    const raised = changes.filter((change) => change.kind === 'raise');
    const confirmed = changes.filter((change) => change.kind === 'confirm');
    const ended = changes.filter((change) => change.kind === 'end');
    return this.#storage.writes.write(async (tx) => {
      const epochs = raised.length > 0 ? await raiseEpochs(tx, raised) : undefined;
      const counting = confirmed.length > 0 ? await confirmEpochs(tx, confirmed, this.#nodeId) : undefined;
      if (ended.length > 0) await recordDisconnects(tx, ended);
      return changes.map(({ kind, agentId }) => (kind === 'raise' ? epochs?.get(agentId) : counting?.has(agentId)));
    });
  }
}
