import type { Hello } from '../../../protocol/index.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { mustReset } from './journal-trust.ts';
import { confirmEpoch, raiseEpoch, recordDisconnect } from './store.ts';
import type { AssignedEpoch } from './types.ts';

/** Epochs of agents in the database. A newer epoch makes an older connection harmless on every node. */
export class AgentEpochs {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** Assigns an epoch to the connection. Undefined: the agent is unknown or revoked, or its credential was replaced. */
  async assign({ agentId, credential, hello }: { agentId: string; credential: string; hello: Hello }): Promise<AssignedEpoch | undefined> {
    const known = await this.#storage.writes.write((tx) =>
      raiseEpoch(tx, { agentId, credential, version: hello.agent_version, lastEpoch: hello.last_epoch }),
    );
    if (!known) return undefined;
    const journal = { journalId: hello.journal_id, lastEpoch: hello.last_epoch };
    return { epoch: known.epoch, reset: mustReset(journal, known) };
  }

  /** The agent has stored the epoch on disk. False: another connection is newer. */
  confirm(agentId: string, epoch: number, journalId: string): Promise<boolean> {
    const now = this.#clock.now();
    return this.#storage.writes.write((tx) => confirmEpoch(tx, { agentId, epoch, journalId, now }));
  }

  /** Records when the connection with this epoch ended. */
  async end(agentId: string, epoch: number): Promise<void> {
    const now = this.#clock.now();
    await this.#storage.writes.write((tx) => recordDisconnect(tx, { agentId, epoch, now }));
  }
}
