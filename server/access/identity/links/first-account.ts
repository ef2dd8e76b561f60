import { newSecret } from '../../../platform/core/ids.ts';
import type { TeamsService } from '../../teams/service.ts';
import type { Member } from '../../teams/types.ts';
import { isSame } from './visits.ts';

const CODE_LENGTH = 40;

export interface FirstTeam {
  teamName: string;
  email: string;
  password: string;
}

/**
 * The first account of a control plane, made by whoever sees its terminal. The code is in the memory of this process only, and works until
 * somebody has an account, however that was made.
 */
export class FirstAccount {
  readonly #teams: Pick<TeamsService, 'hasAnyAccount' | 'createFirstUser'>;
  readonly #prepareTeam: (teamId: string) => Promise<void>;
  #code: string | undefined;
  #isBusy = false;

  /** @param prepareTeam gives the team what every new one has */
  constructor(teams: Pick<TeamsService, 'hasAnyAccount' | 'createFirstUser'>, prepareTeam: (teamId: string) => Promise<void>) {
    this.#teams = teams;
    this.#prepareTeam = prepareTeam;
  }

  /** Undefined once there is an account. */
  async code(): Promise<string | undefined> {
    if (await this.#teams.hasAnyAccount()) return undefined;
    this.#code ??= newSecret(CODE_LENGTH);
    return this.#code;
  }

  async isOpen(code: string): Promise<boolean> {
    return this.#code !== undefined && isSame(code, this.#code) && !(await this.#teams.hasAnyAccount());
  }

  /** @returns undefined for a link that does not work, or is being used. @throws AppError as {@link TeamsService.createFirstUser} */
  async create(code: string, team: FirstTeam): Promise<Member | undefined> {
    if (this.#isBusy) return undefined;
    this.#isBusy = true;
    try {
      if (!(await this.isOpen(code))) return undefined;
      const member = await this.#teams.createFirstUser({ ...team, prepareTeam: this.#prepareTeam });
      this.#code = undefined;
      return member;
    } finally {
      this.#isBusy = false;
    }
  }
}
